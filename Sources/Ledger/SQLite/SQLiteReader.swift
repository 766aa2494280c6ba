internal import GotchuCore
internal import SQLite
internal import ServiceProcess

/// A read-only connection on a thread of its own: a slow reader never delays a payment.
actor SQLiteReader: StoreReader {
    private let executor: ThreadExecutor
    let connection: Connection

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String) throws {
        executor = ThreadExecutor(name: "ledger-reader")
        connection = try Connection(path: path, mode: .readOnly)
    }

    func session(_ id: SessionID) throws -> Session? {
        try connection.query(
            "SELECT \(Columns.session) FROM sessions WHERE id = ?1",
            [.text(id.rawValue)],
            read: { try $0.session() }
        ).first
    }

    func published(_ eid: EID) throws -> PublishedSession? {
        try connection.query(
            """
            SELECT \(Columns.session), display_name, NULL FROM sessions
            JOIN users ON users.id = payee_id WHERE sessions.eid = ?1
            UNION ALL
            SELECT \(Columns.session), display_name, resolves_until FROM retired_eids
            JOIN sessions ON sessions.id = session_id
            JOIN users ON users.id = payee_id WHERE retired_eids.eid = ?1
            LIMIT 1
            """,
            [.text(eid.description)],
            read: { row in
                PublishedSession(
                    session: try row.session(),
                    payeeName: try row.text(16),
                    resolvesUntil: try row.optionalInteger(17).map(Timestamp.init(milliseconds:))
                )
            }
        ).first
    }

    func statement(of user: UserID, entries: Int) throws -> WalletStatement? {
        try connection.snapshot {
            let wallets = try connection.query(
                "SELECT \(Columns.wallet) FROM wallets WHERE user_id = ?1 ORDER BY id LIMIT 1",
                [.text(user.rawValue)],
                read: { try $0.wallet() }
            )
            guard let wallet = wallets.first else { return nil }
            return WalletStatement(
                wallet: wallet,
                entries: try newestEntries(of: wallet.id, limit: entries)
            )
        }
    }

    private func newestEntries(
        of wallet: WalletID,
        limit: Int
    ) throws -> [WalletStatement.Entry] {
        try connection.query(
            """
            SELECT entries.transfer_id, kind, entries.amount, transfers.currency, memo,
                transfers.created_at
            FROM entries JOIN transfers ON transfers.id = entries.transfer_id
            LEFT JOIN refunds ON refunds.transfer_id = transfers.id
            LEFT JOIN sessions
                ON sessions.id = coalesce(transfers.session_id, refunds.session_id)
            WHERE wallet_id = ?1 ORDER BY number DESC LIMIT ?2
            """,
            [.text(wallet.rawValue), .integer(Int64(limit))],
            read: { try $0.statementEntry() }
        )
    }

    func send(_ key: SendKey) throws -> RememberedSend? {
        try connection.send(key)
    }

    func due(at time: Timestamp, limit: Int) throws -> [SessionID] {
        try connection.query(
            """
            SELECT id FROM sessions
            WHERE \(Schema.isLive)
            AND coalesce(lock_expires_at, expires_at) <= ?1
            ORDER BY coalesce(lock_expires_at, expires_at) LIMIT ?2
            """,
            [.integer(time.milliseconds), .integer(Int64(limit))],
            read: { SessionID(rawValue: try $0.text(0)) }
        ).compactMap(\.self)
    }

    func device(_ id: DeviceID) throws -> Device? { try connection.device(id) }

    func storeReading() throws -> StoreReading {
        try connection.query(
            StoreReading.query(live: "sessions WHERE \(Schema.isLive)"),
            read: { try $0.storeReading() }
        ).first ?? StoreReading()
    }

    func use() throws -> BooksUse {
        try connection.query(BooksUse.query) { try $0.booksUse() }.first ?? .neither
    }
}
