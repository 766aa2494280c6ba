import GotchuCore
import LedgerTestSupport
import Payments
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

/// A ledger's tables, distributed over the servers of a cluster.
@Suite(
    "Distributed tables",
    .enabled(if: CitusCluster.isInstalled, "\(CitusCluster.absence)")
)
struct DistributionTests {
    private static func distribute(_ url: String) throws(LedgerError) -> Int64 {
        try PostgreSQLStore.distribute(url: url, logger: TestDatabase.logger)
    }

    @Test("Distribution moves the existing rows, and a running server continues to work")
    func withRows() async throws {
        let database = TestDatabase(postgresql: try CitusCluster.shared().makeDatabase())
        try await withLedger(on: try database.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let before = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            #expect(try await ledger.pay(before, by: payer, key: "key-0123456789-0").isAccepted)
            #expect(try Self.distribute(database.location) == 2)
            let after = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            #expect(try await ledger.pay(after, by: payer, key: "key-0123456789-1").isAccepted)
            let again = try await ledger.pay(before, by: payer, key: "key-0123456789-0")
            #expect(again.isAccepted && again.isReplay)
        }
        // A second call changes nothing. No rows are left in the coordinator's own tables.
        #expect(try Self.distribute(database.location) == 2)
        #expect(
            try database.texts(
                "SELECT sum(pg_relation_size(logicalrelid))::text FROM pg_dist_partition "
                    + "WHERE partmethod = 'h'"
            ) == ["0"]
        )
        #expect(try database.texts("SELECT sum(balance)::text FROM accounts") == ["0"])
        #expect(try database.audit().isClean)
    }

    @Test("A database that cannot be distributed is refused with the reason")
    func unfit() throws {
        let plain = try PostgresCluster.shared()
        try expectRefusal("no Citus", of: plain.url(try plain.makeDatabase()))
        let cluster = try CitusCluster.shared()
        let name = try cluster.coordinator.makeDatabase()
        let link = try cluster.coordinator.connect(name)
        try link.connection.execute("CREATE EXTENSION citus")
        let url = cluster.coordinator.url(name)
        try expectRefusal("not told where the coordinator is", of: url)
        try link.connection.execute(
            "SELECT citus_set_coordinator_host('\(cluster.coordinator.socketFolder)', 5432)"
        )
        try expectRefusal("no worker", of: url)
        let whole = try cluster.makeDatabase()
        let database = try #require(whole.split(separator: "?")[0].split(separator: "/").last)
        try expectRefusal("is a worker", of: cluster.workers[0].url(String(database)))
    }

    private func expectRefusal(_ words: String, of url: String) throws {
        let error = #expect(throws: LedgerError.self) { try Self.distribute(url) }
        #expect(error?.code == .cannotOpen && error?.fix != nil)
        #expect("\(error as Any)".contains(words))
    }

    @Test("Every statement of a commit runs on one server")
    func oneServer() async throws {
        let database = try await SampleLedger.database(.distributed)
        let link = try database.connection()
        try PostgreSQLSession.prepareForWriting(link.connection)
        let texts = try Statements(.distributed).texts
        #expect(texts.count > 25)
        for (number, sql) in texts.sorted().enumerated() {
            let last = sql.matches(of: /\$([0-9]+)/).compactMap { Int($0.output.1) }.max() ?? 0
            // The outbox's statements take arrays of values. The outbox's tables are on the
            // coordinator.
            let value = sql.contains("unnest") ? "'{1}'" : "'1'"
            let values = [String](repeating: value, count: last).joined(separator: ", ")
            try link.connection.execute("PREPARE p\(number) AS \(sql)")
            let plan = try link.connection.query(
                "EXPLAIN EXECUTE p\(number)" + (last > 0 ? "(\(values))" : ""),
                read: { try $0.text(0) }
            ).joined(separator: "\n")
            // A writer runs this statement only when it begins. It reads from all servers.
            if sql.contains("FROM seals ORDER BY") { continue }
            #expect(plan.contains("Task Count: 1\n"), "\(sql)\n\(plan)")
        }
    }

    @Test("The audit of all servers finds nothing while payments are made")
    func oneMoment() async throws {
        let database = try StoreKind.distributed.makeDatabase()
        try await withLedger(on: try database.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 10_000)
            let load = Task {  // SAFETY: owned by this test, which cancels it at its end.
                var count = 0
                while !Task.isCancelled {
                    let session = try await ledger.lockedSession(
                        payee: payee,
                        payer: payer,
                        cents: 1
                    )
                    _ = try await ledger.pay(session, by: payer, key: "key-0123456789-\(count)")
                    count += 1
                }
                return count
            }
            for _ in 0..<10 {
                let audit = try database.audit()
                #expect(audit.isClean, "\(audit.findings.compactMap(\.violation))")
            }
            load.cancel()
            #expect(try await load.value > 5)
        }
    }

    @Test("The audit fails with tryAgain while a worker has an unresolved transaction")
    func inDoubt() async throws {
        let database = try await SampleLedger.database(.distributed)
        let worker = try Self.worker(0, of: database)
        // The transaction belongs to no server of the cluster, so no server ends it.
        try worker.connection.execute("BEGIN")
        try worker.connection.execute("PREPARE TRANSACTION 'citus_99_1_1_1'")
        let error = #expect(throws: LedgerError.self) { try database.audit() }
        #expect(error?.code == .tryAgain)
        try worker.connection.execute("ROLLBACK PREPARED 'citus_99_1_1_1'")
        #expect(try database.audit().isClean)
    }

    @Test("The audit finds a shard without its primary key")
    func shardWithoutKey() async throws {
        let database = try await SampleLedger.database(.distributed)
        let (worker, shard) = try Self.shard(of: "entries", of: database)
        let key = "entries_pkey\(shard.dropFirst("entries".count))"
        try worker.connection.execute("ALTER TABLE \(shard) DROP CONSTRAINT \(key)")
        let broken = try database.audit().findings.compactMap(\.violation)
        #expect(broken.map { $0.hasSuffix("of entries has no valid primary key") } == [true])
    }

    @Test("Only the owner of the tables can audit a cluster")
    func notOwner() async throws {
        let database = try await SampleLedger.database(.distributed)
        try database.execute(
            "CREATE ROLE stranger LOGIN; GRANT SELECT ON gotchu_migrations TO stranger"
        )
        let url = database.location.replacing("gotchu@", with: "stranger@")
        let error = #expect(throws: LedgerError.self) { try TestDatabase(postgresql: url).audit() }
        #expect(error?.fix == "Log in as their owner.", "\(error as Any)")
        try database.execute("DROP OWNED BY stranger; DROP ROLE stranger")
    }

    /// Returns a worker that has a shard of a table, and the shard's name.
    private static func shard(
        of table: String,
        of database: TestDatabase
    ) throws -> (PostgresCluster.Link, String) {
        for number in 0..<2 {
            let worker = try worker(number, of: database)
            try worker.connection.execute("SET citus.override_table_visibility = off")
            let shards = try worker.connection.query(
                "SELECT relname::text FROM pg_class WHERE relname ~ '^\(table)_[0-9]+$'"
            ) { try $0.text(0) }
            if let shard = shards.first { return (worker, shard) }
        }
        throw NeverHappened(description: "a worker has a shard of \(table)")
    }

    @Test("A worker that fails to commit leaves the outcome unknown")
    func failedCommit() async throws {
        let database = try await SampleLedger.database(.distributed)
        let store = try database.open()
        let (worker, shard) = try Self.shard(of: "probe", of: database)
        try worker.connection.execute(
            """
            SET citus.enable_ddl_propagation = off;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN RAISE 'The test says so.'; END $$;
            CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON \(shard)
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        let error = await #expect(throws: LedgerError.self) { try await store.commitOne(Probe()) }
        #expect(error?.code == .unknownOutcome)
    }

    private static func worker(_ number: Int, of database: TestDatabase) throws
        -> PostgresCluster.Link
    {
        let name = try #require(try database.texts("SELECT current_database()::text").first)
        return try CitusCluster.shared().workers[number].connect(name)
    }

    @Test("A worker without synchronous commits is refused")
    func forgetful() async throws {
        let database = try await SampleLedger.database(.distributed)
        let worker = try Self.worker(1, of: database)
        let name = try #require(try database.texts("SELECT current_database()::text").first)
        try worker.connection.execute("ALTER DATABASE \(name) SET synchronous_commit = 'off'")
        let error = #expect(throws: LedgerError.self) { try database.open() }
        #expect(error?.code == .notDurable)
    }
}
