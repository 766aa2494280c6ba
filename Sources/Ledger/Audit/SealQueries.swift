/// The chain's questions, in SQL that both stores understand alike.
enum SealQueries {
    private static let sources = """
        LEFT JOIN refunds ON refunds.transfer_id = transfers.id
        LEFT JOIN sessions ON sessions.id = coalesce(transfers.session_id, refunds.session_id)
        """

    static let head = "SELECT number, transfer_id, hash FROM seals ORDER BY number DESC LIMIT 1"

    /// The name behind which to look, and how many to look at.
    static let unsealed = """
        SELECT \(Columns.sealedTransfer)
        FROM transfers LEFT JOIN seals ON seals.transfer_id = transfers.id \(sources)
        WHERE transfers.id > $1 ORDER BY transfers.id LIMIT $2
        """

    /// A stretch of the chain, each link with what it covers: the number behind which it begins,
    /// and how long it is.
    static let chain = """
        SELECT \(Columns.sealedTransfer), seals.hash
        FROM seals JOIN transfers ON transfers.id = seals.transfer_id \(sources)
        WHERE seals.number > $1 ORDER BY seals.number LIMIT $2
        """

    static let sealed = AuditCheck(
        rule: "every transfer that is behind the newest seal has one too (transfers)",
        count: "SELECT count(*) FROM transfers",
        firstBroken: """
            SELECT 'transfer ' || transfers.id || ' has no seal'
            FROM transfers LEFT JOIN seals ON seals.transfer_id = transfers.id
            WHERE seals.number IS NULL AND transfers.created_at < (
                SELECT newest.created_at FROM seals
                JOIN transfers AS newest ON newest.id = seals.transfer_id
                ORDER BY seals.number DESC LIMIT 1
            ) - 3600000 ORDER BY transfers.id LIMIT 1
            """
    )
}
