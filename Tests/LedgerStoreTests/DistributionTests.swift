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
    .enabled(if: CitusCluster.isInstalled, "\(CitusCluster.absence)"),
    .timeLimit(.minutes(hangLimit))
)
struct DistributionTests {
    private static func distribute(_ url: String) throws(LedgerError) -> Int64 {
        try PostgreSQLStore.distribute(url: url, logger: TestBooks.logger)
    }

    @Test("Distribution moves the existing rows, and a running server continues to work")
    func withRows() async throws {
        let books = TestBooks(postgresql: try CitusCluster.shared().makeDatabase())
        try await withLedger(on: try books.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let before = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            #expect(try await ledger.pay(before, by: payer, key: "key-0123456789-0").isAccepted)
            #expect(try Self.distribute(books.location) == 2)
            let after = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            #expect(try await ledger.pay(after, by: payer, key: "key-0123456789-1").isAccepted)
            let again = try await ledger.pay(before, by: payer, key: "key-0123456789-0")
            #expect(again.isAccepted && again.isReplay)
        }
        // A second call changes nothing. No rows are left in the coordinator's own tables.
        #expect(try Self.distribute(books.location) == 2)
        #expect(
            try books.texts(
                "SELECT sum(pg_relation_size(logicalrelid))::text FROM pg_dist_partition "
                    + "WHERE partmethod = 'h'"
            ) == ["0"]
        )
        #expect(try books.texts("SELECT sum(balance)::text FROM accounts") == ["0"])
        #expect(try books.audit().isClean)
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
        let books = try await SampleLedger.books(.distributed)
        let link = try books.connection()
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
        let books = try StoreKind.distributed.makeBooks()
        try await withLedger(on: try books.open()) { ledger in
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
                let audit = try books.audit()
                #expect(audit.isClean, "\(audit.findings.compactMap(\.broken))")
            }
            load.cancel()
            #expect(try await load.value > 5)
        }
    }

    @Test("The audit fails with tryAgain while a worker has an unresolved transaction")
    func inDoubt() async throws {
        let books = try await SampleLedger.books(.distributed)
        let worker = try Self.worker(0, of: books)
        // The transaction belongs to no server of the cluster, so no server ends it.
        try worker.connection.execute("BEGIN")
        try worker.connection.execute("PREPARE TRANSACTION 'citus_99_1_1_1'")
        let error = #expect(throws: LedgerError.self) { try books.audit() }
        #expect(error?.code == .tryAgain)
        try worker.connection.execute("ROLLBACK PREPARED 'citus_99_1_1_1'")
        #expect(try books.audit().isClean)
    }

    @Test("The audit finds a shard that may hold a row twice")
    func shardWithoutKey() async throws {
        let books = try await SampleLedger.books(.distributed)
        let (worker, shard) = try Self.shard(of: "entries", of: books)
        let key = "entries_pkey\(shard.dropFirst("entries".count))"
        try worker.connection.execute("ALTER TABLE \(shard) DROP CONSTRAINT \(key)")
        let broken = try books.audit().findings.compactMap(\.broken)
        #expect(broken.map { $0.hasSuffix("of entries may hold a row twice") } == [true])
    }

    @Test("Only the owner of the tables can audit a cluster")
    func notOwner() async throws {
        let books = try await SampleLedger.books(.distributed)
        try books.execute(
            "CREATE ROLE stranger LOGIN; GRANT SELECT ON gotchu_migrations TO stranger"
        )
        let url = books.location.replacing("gotchu@", with: "stranger@")
        let error = #expect(throws: LedgerError.self) { try TestBooks(postgresql: url).audit() }
        #expect(error?.fix == "Log in as their owner.", "\(error as Any)")
        try books.execute("DROP OWNED BY stranger; DROP ROLE stranger")
    }

    /// Returns a worker that has a shard of a table, and the shard's name.
    private static func shard(
        of table: String,
        of books: TestBooks
    ) throws -> (PostgresCluster.Link, String) {
        for number in 0..<2 {
            let worker = try worker(number, of: books)
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
        let books = try await SampleLedger.books(.distributed)
        let store = try books.open()
        let (worker, shard) = try Self.shard(of: "probe", of: books)
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

    private static func worker(_ number: Int, of books: TestBooks) throws -> PostgresCluster.Link {
        let database = try #require(try books.texts("SELECT current_database()::text").first)
        return try CitusCluster.shared().workers[number].connect(database)
    }

    @Test("A worker without synchronous commits is refused")
    func forgetful() async throws {
        let books = try await SampleLedger.books(.distributed)
        let worker = try Self.worker(1, of: books)
        let database = try #require(try books.texts("SELECT current_database()::text").first)
        try worker.connection.execute("ALTER DATABASE \(database) SET synchronous_commit = 'off'")
        let error = #expect(throws: LedgerError.self) { try books.open() }
        #expect(error?.code == .notDurable)
    }
}
