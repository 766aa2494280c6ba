internal import GotchuCore
internal import SQLite

/// Wallet reads: a page costs what it shows, however long the history is.
extension SQLiteReader {
    /// By the key of `entries`, (wallet, number): no sorting, no counting, nothing skipped over.
    static let historyQuery = """
        SELECT \(Columns.historyEntry)
        FROM entries JOIN transfers ON transfers.id = entries.transfer_id
        LEFT JOIN refunds ON refunds.transfer_id = transfers.id
        LEFT JOIN sessions ON sessions.id = coalesce(transfers.session_id, refunds.session_id)
        WHERE entries.wallet_id = ?1 AND entries.number <= ?2
        ORDER BY entries.number DESC LIMIT ?3
        """

    func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) throws -> WalletHistory? {
        try connection.snapshot {
            let found = try connection.query(
                """
                SELECT \(Columns.ownedWallet) FROM wallets JOIN users ON users.id = user_id
                WHERE user_id = ?1 AND currency = ?2
                """,
                [.text(user.rawValue), .text(currency.rawValue)],
                read: { (wallet: try $0.wallet(), openedAt: try $0.time(6)) }
            )
            guard let (wallet, openedAt) = found.first else { return nil }
            let entries = try connection.query(
                Self.historyQuery,
                [
                    .text(wallet.id.rawValue), .integer(range.first(of: wallet)),
                    .integer(Int64(range.limit)),
                ],
                read: { try $0.historyEntry() }
            )
            return WalletHistory(wallet: wallet, openedAt: openedAt, entries: entries)
        }
    }
}
