internal import Ledger
internal import Logging
internal import Postgres
internal import ServiceProcess

/// Receives the ids of records and accounts that other servers of the database have changed.
actor PostgreSQLListener {
    /// The time without notifications after which the connection is tested.
    private static let silence: Duration = .seconds(10)

    private let executor: ThreadExecutor
    private let link: PostgreSQLLink
    private let waker: Waker
    private var isListening = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ settings: ConnectionSettings, waker: Waker, logger: Logger) {
        executor = ThreadExecutor(name: "ledger-listener")
        self.waker = waker
        link = PostgreSQLLink(settings, logger: logger) { connection in
            try PostgreSQLSession.prepare(connection)
            try connection.execute("LISTEN \(PostgreSQLNotice.channel)")
        }
    }

    /// Waits for the next notification. Blocks this actor's thread; the waker ends the wait.
    ///
    /// - Returns: The records and accounts that may have changed; everything on a new connection,
    ///   because notifications may have been missed.
    func next() throws -> Changes {
        do {
            return try link.use { connection in
                guard isListening else {
                    isListening = true
                    return Changes(isEverything: true)
                }
                let heard = try connection.notifications(within: Self.silence, or: waker)
                // This query detects a connection whose peer does not answer any more.
                if heard.isEmpty { try connection.run([Query("SELECT 1")]) }
                return heard.reduce(into: Changes()) { changes, notification in
                    changes.formUnion(PostgreSQLNotice.changes(in: notification.payload))
                }
            }
        } catch {
            isListening = false
            throw error
        }
    }
}
