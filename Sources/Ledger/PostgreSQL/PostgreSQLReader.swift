internal import GotchuCore
internal import Logging
internal import Postgres
internal import ServiceProcess

/// A connection for reading on a thread of its own: a slow reader never delays a payment.
actor PostgreSQLReader: StoreReader {
    static let limit: Duration = .seconds(12)

    private let executor: ThreadExecutor
    private let link: PostgreSQLLink

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ settings: ConnectionSettings, logger: Logger) {
        executor = ThreadExecutor(name: "ledger-reader")
        link = PostgreSQLLink(settings, logger: logger, prepare: PostgreSQLSession.prepare)
    }

    func session(_ id: SessionID) throws -> Session? {
        try query(
            "SELECT \(Columns.session) FROM sessions WHERE id = $1",
            [.text(id.rawValue)],
            read: { try $0.session() }
        ).first
    }

    func look(_ watch: PostgreSQLWatch) throws {
        try repeating { try watch.look(over: $0) }
    }

    func tablesVersion() throws -> Int64 {
        try query(PostgreSQLSchema.version, [], read: { try $0.integer(0) }).first ?? 0
    }

    func published(_ eid: EID) throws -> PublishedSession? {
        try query(
            """
            SELECT \(Columns.session), display_name, NULL::bigint FROM sessions
            JOIN users ON users.id = payee_id WHERE sessions.eid = $1
            UNION ALL
            SELECT \(Columns.session), display_name, resolves_until FROM retired_eids
            JOIN sessions ON sessions.id = session_id
            JOIN users ON users.id = payee_id WHERE retired_eids.eid = $1
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

    /// In one round trip and on one unchanging view.
    func statement(of user: UserID, entries limit: Int) throws -> WalletStatement? {
        try repeating { connection in
            var wallet: Wallet?
            var entries: [WalletStatement.Entry] = []
            try connection.run(
                [
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    Query(
                        """
                        SELECT \(Columns.wallet) FROM wallets WHERE user_id = $1
                        ORDER BY id LIMIT 1
                        """,
                        [.text(user.rawValue)]
                    ) { wallet = try $0.wallet() },
                    Query(
                        """
                        SELECT entries.transfer_id, kind, entries.amount, transfers.currency,
                            memo, transfers.created_at
                        FROM entries JOIN transfers ON transfers.id = entries.transfer_id
                        LEFT JOIN refunds ON refunds.transfer_id = transfers.id
                        LEFT JOIN sessions
                            ON sessions.id = coalesce(transfers.session_id, refunds.session_id)
                        WHERE wallet_id = (
                            SELECT id FROM wallets WHERE wallets.user_id = $1 ORDER BY id LIMIT 1
                        ) ORDER BY number DESC LIMIT $2
                        """,
                        [.text(user.rawValue), .integer(Int64(limit))]
                    ) { entries.append(try $0.statementEntry()) },
                    // Nothing was written: if its answer is lost, nothing is unknown.
                    Query("END"),
                ],
                within: Self.limit
            )
            return wallet.map { WalletStatement(wallet: $0, entries: entries) }
        }
    }

    func send(_ key: SendKey) throws -> RememberedSend? {
        try query(
            "SELECT \(Columns.send) FROM sends WHERE user_id = $1 AND idempotency_key = $2",
            [.text(key.user.rawValue), .text(key.key.rawValue)],
            read: { try $0.send() }
        ).first
    }

    func due(at time: Timestamp, limit: Int) throws -> [SessionID] {
        try query(
            """
            SELECT session_id FROM open_sessions WHERE due_at <= $1 ORDER BY due_at LIMIT $2
            """,
            [.integer(time.milliseconds), .integer(Int64(limit))],
            read: { SessionID(rawValue: try $0.text(0)) }
        ).compactMap(\.self)
    }

    func device(_ id: DeviceID) throws -> Device? {
        try query(
            "SELECT \(Columns.device) FROM devices WHERE id = $1",
            [.text(id.rawValue)],
            read: { try $0.device() }
        ).first
    }

    func storeReading() throws -> StoreReading {
        try query(StoreReading.query(live: "open_sessions"), [], read: { try $0.storeReading() })
            .first ?? StoreReading()
    }

    func use() throws -> BooksUse {
        try query(BooksUse.query, [], read: { try $0.booksUse() }).first ?? .neither
    }

    func query<Element>(
        _ sql: String,
        _ values: [Value],
        read: @escaping (borrowing Row) throws -> Element
    ) throws -> [Element] {
        try repeating { try $0.query(sql, values, within: Self.limit, read: read) }
    }

    /// A reader that finds its connection gone, after a failover for instance, reads once more.
    func repeating<Result>(
        _ body: (borrowing Connection) throws -> Result
    ) throws -> Result {
        do {
            return try link.use(body)
        } catch let error as PostgresError where error.isWorthRepeating {
            return try link.use(body)
        }
    }
}
