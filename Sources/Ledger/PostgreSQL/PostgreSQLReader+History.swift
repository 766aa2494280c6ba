internal import GotchuCore
internal import Postgres

/// Wallet reads: a page costs what it shows, however long the history is.
extension PostgreSQLReader {
    /// By the key of `entries`, (wallet, number): no sorting, no counting, nothing skipped over.
    static let historyQuery = """
        SELECT \(Columns.historyEntry)
        FROM entries JOIN transfers ON transfers.id = entries.transfer_id
        LEFT JOIN refunds ON refunds.transfer_id = transfers.id
        LEFT JOIN sessions ON sessions.id = coalesce(transfers.session_id, refunds.session_id)
        WHERE entries.wallet_id = (
            SELECT id FROM wallets WHERE wallets.user_id = $1 AND wallets.currency = $2
        ) AND entries.number <= coalesce($3::bigint, (
            SELECT entry_count FROM wallets WHERE wallets.user_id = $1 AND wallets.currency = $2
        ) - $4::bigint)
        ORDER BY entries.number DESC LIMIT $5
        """

    /// In one round trip and on one unchanging view.
    func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) throws -> WalletHistory? {
        let owner: [Value] = [.text(user.rawValue), .text(currency.rawValue)]
        let start: [Value] =
            switch range.start {
            case .newest(let skipped): [.null, .integer(skipped)]
            case .after(let number): [.integer(number - 1), .null]
            }
        return try repeating { connection in
            var found: (wallet: Wallet, openedAt: Timestamp)?
            var entries: [WalletHistory.Entry] = []
            try connection.run(
                [
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    Query(
                        """
                        SELECT \(Columns.ownedWallet) FROM wallets
                        JOIN users ON users.id = user_id WHERE user_id = $1 AND currency = $2
                        """,
                        owner
                    ) { found = (try $0.wallet(), try $0.time(6)) },
                    Query(Self.historyQuery, owner + start + [.integer(Int64(range.limit))]) {
                        entries.append(try $0.historyEntry())
                    },
                    Query("END"),
                ],
                within: Self.limit
            )
            return found.map {
                WalletHistory(wallet: $0.wallet, openedAt: $0.openedAt, entries: entries)
            }
        }
    }
}
