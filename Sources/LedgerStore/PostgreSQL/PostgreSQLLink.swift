internal import Logging
internal import Postgres

/// A connection that is reopened after it is lost. Confined to one thread.
///
/// After a failed attempt to connect, calls fail at once until the next attempt is due. Queued
/// payments then do not wait for a database that is unreachable.
final class PostgreSQLLink {
    private static let shortestPause: Duration = .milliseconds(100)
    private static let maximumPause: Duration = .seconds(2)

    private let settings: ConnectionSettings
    private let logger: Logger
    /// Prepares a new connection.
    private let prepare: (borrowing Connection) throws -> Void
    private var open: Open?
    /// The number of connections made so far.
    private(set) var connectionCount = 0
    private var pause = shortestPause
    private var retryAt: ContinuousClock.Instant?
    private var lastFailure: (any Error)?

    init(
        _ settings: ConnectionSettings,
        logger: Logger,
        prepare: @escaping (borrowing Connection) throws -> Void
    ) {
        self.settings = settings
        self.logger = logger
        self.prepare = prepare
    }

    /// Calls `body` with the connection; connects first if there is none.
    ///
    /// If it throws, an open transaction is rolled back, and a connection that cannot be used again
    /// is dropped.
    func use<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        let current = try open ?? connect()
        do {
            return try body(current.connection)
        } catch {
            if !isFit(current, after: error) { open = nil }
            throw error
        }
    }

    /// Returns true if the connection can be used again after a failure.
    private func isFit(_ current: Open, after error: any Error) -> Bool {
        if let error = error as? PostgresError {
            // A server that has become read-only is no longer the primary: reconnect to find the
            // new one.
            let isElsewhere = error.state == .readOnlyTransaction
            if isElsewhere || error.kind == .connectionLost || error.kind == .unknownOutcome {
                return false
            }
        }
        guard current.connection.isUsable else { return false }
        guard current.connection.isInTransaction else { return true }
        do {
            try current.connection.execute("ROLLBACK")
            return true
        } catch {
            return false
        }
    }

    private func connect() throws -> Open {
        if let retryAt, let lastFailure, ContinuousClock.now < retryAt { throw lastFailure }
        do {
            let logger = logger
            let new = Open(
                try Connection(settings) { notice in
                    logger.info(
                        "The database sent a notice.",
                        metadata: [
                            "severity": "\(notice.severity)", "notice": "\(notice.message)",
                        ]
                    )
                }
            )
            try prepare(new.connection)
            if lastFailure != nil { logger.notice("The database can be used again.") }
            (open, retryAt, lastFailure, pause) = (new, nil, nil, Self.shortestPause)
            connectionCount += 1
            return new
        } catch {
            let failure = meaning(of: error)
            if lastFailure == nil {
                logger.warning("The database cannot be used.", metadata: ["error": "\(failure)"])
            }
            retryAt = .now + pause
            pause = min(pause * 2, Self.maximumPause)
            lastFailure = failure
            throw failure
        }
    }

    /// Translates a connection failure. A `PostgresError` becomes `cannotConnect`. Other errors,
    /// such as that of a database that is not durable, are not changed.
    private func meaning(of error: any Error) -> any Error {
        guard let error = error as? PostgresError else { return error }
        return PostgresError(.cannotConnect, state: error.state, message: error.message)
    }

    /// A reference to a connection, because a noncopyable value in an optional cannot be borrowed.
    private final class Open {
        let connection: Connection

        init(_ connection: consuming Connection) {
            self.connection = connection
        }
    }
}
