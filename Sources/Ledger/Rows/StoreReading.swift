/// What there is in a store at a moment.
package struct StoreReading: Equatable, Sendable {
    /// Sessions that can still be paid.
    package var liveSessions = 0
    /// Webhook deliveries that will be tried again.
    package var waitingWebhooks = 0
    /// Webhook deliveries that were given up.
    package var deadWebhooks = 0
    /// Transfers that are in the chain.
    package var seals: Int64 = 0

    /// Its columns, in SQL that both stores understand alike.
    ///
    /// - Parameter live: Which rows there are one of for each session that is not over.
    static func query(live: String) -> String {
        """
        SELECT (SELECT count(*) FROM \(live)
        ), (SELECT count(*) FROM webhook_deliveries WHERE dead_at IS NULL
        ), (SELECT count(*) FROM webhook_deliveries WHERE dead_at IS NOT NULL
        ), (SELECT coalesce(max(number), 0) FROM seals)
        """
    }
}

extension LedgerRow where Self: ~Copyable {
    /// Of `StoreReading.query`.
    borrowing func storeReading() throws -> StoreReading {
        StoreReading(
            liveSessions: Int(try integer(0)),
            waitingWebhooks: Int(try integer(1)),
            deadWebhooks: Int(try integer(2)),
            seals: try integer(3)
        )
    }
}
