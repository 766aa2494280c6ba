internal import Ledger
internal import Logging
internal import Postgres

/// The settings and checks of each of our connections before it is used.
enum PostgreSQLSession {
    /// The timeouts of lock waits and statements. They are well below the time that a client waits
    /// for its answer, and below `Connection.defaultTimeout`.
    private static let settings = """
        SET lock_timeout = '2s';
        SET statement_timeout = '10s';
        SET idle_in_transaction_session_timeout = '30s';
        SET bytea_output = 'hex';
        SET jit = off;
        """

    /// The planner settings: every statement finds its rows by an index. Otherwise a plan that was
    /// cached while a table was small would read the whole table once it is large.
    private static let plans = """
        SET enable_seqscan = off;
        SET enable_hashjoin = off;
        SET enable_mergejoin = off;
        SET max_parallel_workers_per_gather = 0;
        SET enable_material = off;
        """

    /// The writer's planner settings: its statements are the same for all values and are planned
    /// once. Otherwise the server may plan them again for each batch, which costs a single payment
    /// more than executing them.
    private static let writersPlans = "SET plan_cache_mode = force_generic_plan;"

    /// The planner settings for other writes. A bitmap scan would read all deliveries of an
    /// endpoint, even if the statement has a LIMIT.
    private static let changesPlans = """
        SET plan_cache_mode = force_custom_plan;
        SET enable_bitmapscan = off;
        """

    /// The timeout between two statements of a batch. Our server only computes meanwhile: if it
    /// takes longer, it is frozen. Its locks are then released before other servers' lock waits
    /// time out.
    private static let writersPause = "SET idle_in_transaction_session_timeout = '1500ms';"

    /// The lock timeout of one transaction. A distributed engine's other servers do not inherit the
    /// session's timeout.
    static var lockLimit: Query { Query("SET LOCAL lock_timeout = '2s'") }

    /// The settings for a distributed engine. Each transaction has one connection to each other
    /// server: a second one would cost more than it gains, and would not see the first one's
    /// writes. Warnings are received, because a worker's failed commit causes only a warning.
    private static let distributed = """
        SET client_min_messages = 'warning';
        SET citus.propagate_set_commands = 'local';
        SET citus.max_adaptive_executor_pool_size = 1;
        """

    /// The timeout of a query that returns rows.
    static let answerLimit: Duration = .seconds(12)

    /// Prepares a connection that serves callers.
    static func prepare(_ connection: borrowing Connection) throws {
        try connection.execute(settings + plans)
        try Distribution.detect(on: connection)
        if connection.isDistributed { try connection.execute(distributed) }
        let durability = try assertDurable(connection)
        // Set for the session, so that a later reload of the configuration does not change it.
        try connection.execute("SET synchronous_commit = '\(durability.synchronousCommit)'")
    }

    /// Prepares the writer's connection.
    static func prepareForWriting(_ connection: borrowing Connection) throws {
        try prepare(connection)
        // A distributed engine caches its plans for single rows, and cannot plan other statements
        // this way.
        try connection.execute((connection.isDistributed ? "" : writersPlans) + writersPause)
    }

    /// Prepares a connection for writes that are not the ledger's. Plans are not cached: a plan
    /// from a time without a backlog would read all deliveries to find an endpoint's.
    static func prepareForChanges(_ connection: borrowing Connection) throws {
        try prepare(connection)
        try connection.execute(changesPlans + writersPause)
    }

    /// Prepares a connection for an audit, which reads everything and has no time limit.
    static func prepareForAudit(_ connection: borrowing Connection) throws {
        try connection.execute("SET statement_timeout = 0; SET bytea_output = 'hex'; SET jit = off")
        try Distribution.detect(on: connection)
        guard connection.isDistributed else { return }
        // The coordinator compares whole tables, and stores them on its disk for that.
        try connection.execute(distributed + "SET citus.max_intermediate_result_size = -1")
    }

    /// Checks the server's durability settings. If one is off, a crash may lose acknowledged
    /// payments (PostgreSQL manual, 20.5).
    ///
    /// - Throws: `LedgerError` with `notDurable`.
    @discardableResult
    static func assertDurable(_ connection: borrowing Connection) throws -> Durability {
        let rows = try connection.query(
            """
            SELECT current_setting('fsync'), current_setting('synchronous_commit'),
                current_setting('full_page_writes'), current_setting('server_version')
            """,
            read: { row in
                Durability(
                    fsync: try row.text(0),
                    synchronousCommit: try row.text(1),
                    fullPageWrites: try row.text(2),
                    version: try row.text(3)
                )
            }
        )
        guard let durability = rows.first, durability.isKept,
            try Distribution.isDurable(on: connection)
        else { throw LedgerError.notDurable }
        return durability
    }

    struct Durability: Sendable {
        let fsync: String
        let synchronousCommit: String
        let fullPageWrites: String
        let version: String

        /// A Boolean that is true if commits are durable. `local` is not: it would lose
        /// acknowledged commits when a replica takes over.
        var isKept: Bool {
            fsync == "on" && fullPageWrites == "on"
                && ["on", "remote_write", "remote_apply"].contains(synchronousCommit)
        }

        var metadata: Logger.Metadata {
            [
                "fsync": "\(fsync)", "synchronous-commit": "\(synchronousCommit)",
                "full-page-writes": "\(fullPageWrites)", "version": "\(version)",
            ]
        }
    }
}

extension LedgerError {
    static var notDurable: LedgerError {
        LedgerError(
            .notDurable,
            "The database is not configured to keep what it commits.",
            fix: "Set fsync, full_page_writes and synchronous_commit to on in its configuration."
        )
    }
}
