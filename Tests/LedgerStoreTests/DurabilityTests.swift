import GotchuCore
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

@Suite("A database's durability")
struct DurabilityTests {
    /// Returns true if a commit succeeds, and false if the database is not durable.
    private static func isWritten(_ store: PostgreSQLStore) async throws -> Bool {
        do {
            try await store.commitOne(Probe())
            return true
        } catch {
            #expect(error.code == .notDurable)
            return false
        }
    }

    /// - Parameter isReading: True if the readers connect before the reload and check the settings
    ///   themselves. Otherwise they connect after the reload and are refused.
    @Test(
        "All payments stop while a reload has turned the database's durability off",
        arguments: ["fsync", "full_page_writes"],
        [true, false]
    )
    func reloaded(setting: String, isReading: Bool) async throws {
        let cluster = try PostgresCluster()
        let place = cluster.url(try cluster.makeDatabase())
        let store = try PostgreSQLStore(url: place, logger: TestDatabase.logger)
        #expect(try await Self.isWritten(store))
        // Each check uses the next reader, so that all readers connect.
        if isReading { for _ in 0..<8 { try await store.checkHealth() } }
        let admin = try cluster.connect("postgres")
        func set(_ command: String, to value: String) async throws {
            try admin.connection.execute("ALTER SYSTEM \(command)")
            try admin.connection.execute("SELECT pg_reload_conf()")
            try await eventually("the settings are read again") {
                let now = try admin.connection.query("SHOW \(setting)") { try $0.text(0) }
                return now == [value] ? true : nil
            }
        }
        try await set("SET \(setting) = off", to: "off")
        try await eventually("nothing is written") {
            try? await store.checkHealth()
            return try await Self.isWritten(store) ? nil : true
        }
        try await set("RESET \(setting)", to: "on")
        try await eventually("the ledger is written again") {
            try? await store.checkHealth()
            return try await Self.isWritten(store) ? true : nil
        }
    }

    @Test("Payments are all accepted or all refused if only new connections are not durable")
    func steady() async throws {
        let cluster = try PostgresCluster()
        let name = try cluster.makeDatabase()
        let store = try PostgreSQLStore(url: cluster.url(name), logger: TestDatabase.logger)
        for _ in 0..<4 {
            #expect(try await Self.isWritten(store))
            _ = try await store.reading()
        }
        let admin = try cluster.connect("postgres")
        try admin.connection.execute("ALTER SYSTEM SET synchronous_commit = off")
        try admin.connection.execute("SELECT pg_reload_conf()")
        try await eventually("new connections are not durable") {
            let new = try cluster.connect("postgres")
            return try new.connection.query("SHOW synchronous_commit") { try $0.text(0) } == ["off"]
                ? true : nil
        }
        let ours = "FROM pg_stat_activity WHERE datname = '\(name)' AND backend_type LIKE 'client%'"
        func waitForConnections(_ expected: Int64) async throws {
            try await eventually("the store has \(expected) connections") {
                let count = try admin.connection.query("SELECT count(*) \(ours)") {
                    try $0.integer(0)
                }
                return count == [expected] ? true : nil
            }
        }
        /// Returns the results of several commits after a connection was lost.
        ///
        /// - Parameter age: The index of the connection, sorted by start time.
        func results(withoutConnection age: Int, of count: Int64) async throws -> Set<Bool> {
            try await waitForConnections(count)
            let lost = try admin.connection.query(
                """
                SELECT pg_terminate_backend((
                    SELECT pid \(ours) ORDER BY backend_start LIMIT 1 OFFSET \(age)
                ))::text
                """
            ) { try $0.text(0) }
            #expect(lost == ["true"])
            try await waitForConnections(count - 1)
            var answers: Set<Bool> = []
            for _ in 0..<8 {
                try? await store.checkHealth()
                answers.insert(try await Self.isWritten(store))
            }
            return answers
        }
        // The writer connects first, and the reader that checks the settings last. The reader of
        // heavy queries has not connected.
        #expect(try await results(withoutConnection: 1, of: 4) == [true])
        #expect(try await results(withoutConnection: 2, of: 3) == [false])
    }

    @Test("If the database is not durable, a lost connection is not replaced at each attempt")
    func pause() throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let settings = try ConnectionSettings(url: cluster.url(name))
        var attempts = 0
        let link = PostgreSQLLink(settings, logger: TestDatabase.logger) { _ in
            attempts += 1
            throw LedgerError.notDurable
        }
        for _ in 0..<100 {
            let error = #expect(throws: LedgerError.self) { try link.use { _ in } }
            #expect(error?.code == .notDurable)
        }
        #expect(attempts < 50)
    }
}
