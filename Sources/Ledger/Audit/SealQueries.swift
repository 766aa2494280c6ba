internal import GotchuCore

/// The chain's questions, in SQL that both stores understand alike.
enum SealQueries {
    private static let sources = """
        LEFT JOIN refunds ON refunds.transfer_id = transfers.id
        LEFT JOIN sessions ON sessions.id = coalesce(transfers.session_id, refunds.session_id)
        """

    static let head = "SELECT number, transfer_id, hash FROM seals ORDER BY number DESC LIMIT 1"

    static let hash = "SELECT hash FROM seals WHERE number = $1"

    /// Sorts behind every name.
    static let behindAll = "\u{10FFFF}"

    /// The last name of a stretch, and how many transfers it has: the name behind which it begins,
    /// the one that it ends with at the latest, and how long it is at most.
    static let stretch = """
        SELECT max(id), count(*) FROM (
            SELECT id FROM transfers WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3
        ) AS stretch
        """

    /// How many transfers are in a stretch: the name behind which it begins, and its last.
    static let count = "SELECT count(*) FROM transfers WHERE id > $1 AND id <= $2"

    /// Those of a stretch, its last name included, that have no seal, and how many at most.
    /// Transfers that have one, which are nearly all, cost a look into two indexes.
    static let unsealed = """
        SELECT \(Columns.sealedTransfer)
        FROM transfers LEFT JOIN seals ON seals.transfer_id = transfers.id \(sources)
        WHERE transfers.id > $1 AND transfers.id <= $2 AND seals.number IS NULL
        ORDER BY transfers.id LIMIT $3
        """

    /// A stretch of the chain, each link with what it covers: the number behind which it begins,
    /// and how long it is.
    static let chain = """
        SELECT \(Columns.sealedTransfer), seals.hash
        FROM seals JOIN transfers ON transfers.id = seals.transfer_id \(sources)
        WHERE seals.number > $1 ORDER BY seals.number LIMIT $2
        """

    /// Servers' clocks may be hours apart, and there may be more to seal than can be sealed at
    /// once.
    static let sealed = AuditCheck(
        rule: "every transfer a day behind the newest seal has one too (transfers)",
        count: "SELECT count(*) FROM transfers",
        firstBroken: """
            SELECT 'transfer ' || transfers.id || ' has no seal'
            FROM transfers LEFT JOIN seals ON seals.transfer_id = transfers.id
            WHERE seals.number IS NULL AND transfers.created_at < (
                SELECT newest.created_at FROM seals
                JOIN transfers AS newest ON newest.id = seals.transfer_id
                ORDER BY seals.number DESC LIMIT 1
            ) - \(Sealer.day.wholeMilliseconds) ORDER BY transfers.id LIMIT 1
            """
    )
}
