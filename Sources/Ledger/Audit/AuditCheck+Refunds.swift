extension AuditCheck {
    static let refunds = AuditCheck(
        rule: "every refund went from a session's payee to its payer, as answered (refunds)",
        count: "SELECT count(*) FROM transfers WHERE kind = 'REFUND'",
        firstBroken: """
            WITH moved AS (
                SELECT transfers.id AS id, transfers.amount AS amount,
                    max(CASE WHEN entries.amount < 0 THEN user_id END) AS source,
                    max(CASE WHEN entries.amount > 0 THEN user_id END) AS destination
                FROM entries
                JOIN (SELECT id, amount FROM transfers WHERE kind = 'REFUND') AS transfers
                    ON transfers.id = transfer_id
                JOIN wallets ON wallets.id = wallet_id
                GROUP BY transfers.id, transfers.amount
            )
            SELECT 'transfer ' || coalesce(moved.id, transfer_id) || ' and the refund of session '
                || coalesce(session_id, 'none') || ' do not agree'
            FROM moved FULL JOIN refunds ON transfer_id = moved.id
            LEFT JOIN sessions ON sessions.id = session_id
            WHERE (moved.id IS NOT NULL OR transfer_id IS NOT NULL) AND (
                refunds.amount IS DISTINCT FROM moved.amount
                OR sessions.payee_id IS DISTINCT FROM source
                OR sessions.payer_id IS DISTINCT FROM destination
                OR refunds.user_id IS DISTINCT FROM source
            ) LIMIT 1
            """
    )

    static let refundTotals = AuditCheck(
        rule: "no session was refunded more than was paid, and each knows how much (sessions)",
        count: "SELECT count(*) FROM sessions WHERE refunded > 0",
        firstBroken: """
            SELECT 'session ' || id || ': refunded ' || refunded || ', refunds '
                || coalesce(total, 0)
            FROM sessions LEFT JOIN (
                SELECT session_id, sum(amount) AS total FROM refunds
                WHERE transfer_id IS NOT NULL GROUP BY session_id
            ) AS made ON session_id = id
            WHERE refunded <> coalesce(total, 0) OR refunded > amount
                OR (refunded > 0 AND status <> 'PAID')
            LIMIT 1
            """
    )
}
