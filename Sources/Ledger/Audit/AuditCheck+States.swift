internal import GotchuCore

extension AuditCheck {
    /// A row in a state that there is not can be read by no server.
    static let states = AuditCheck(
        rule: "every session is in a state there is, every refusal has a known reason (sessions)",
        count: "SELECT count(*) FROM sessions",
        firstBroken: """
            SELECT 'session ' || id || ' is ' || status FROM sessions
            WHERE status NOT IN (\(list(SessionStatus.allCases)))
                OR (status IN ('LOCKED', 'PAID')) <> (payer_id IS NOT NULL)
                OR (status = 'LOCKED') <> (lock_expires_at IS NOT NULL)
                OR (status = 'PAID') <> (paid_at IS NOT NULL)
            UNION ALL
            SELECT 'payment of session ' || session_id || ' was refused as ' || refusal FROM sends
            WHERE refusal NOT IN (\(list(Refusal.Reason.allCases)))
            UNION ALL
            SELECT 'refund of session ' || session_id || ' was refused as ' || refusal FROM refunds
            WHERE refusal NOT IN (\(list(Refusal.Reason.allCases)))
            LIMIT 1
            """
    )

    static func list(_ values: [some RawRepresentable<String>]) -> String {
        values.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }
}
