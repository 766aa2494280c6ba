import Devices
import Foundation
import GotchuCore
import LedgerTestSupport
import Payments
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore
@testable import Outbox

@Suite("The PostgreSQL store")
struct PostgreSQLStoreTests {
    @Test("Ten servers that start together create the tables once")
    func migrateTogether() async throws {
        let database = try StoreKind.postgresql.makeDatabase()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try database.open() } }
            try await group.waitForAll()
        }
        let versions = try database.texts("SELECT version::text FROM gotchu_migrations")
        #expect(versions == ["\(Schema.version)"])
        #expect(try database.audit().isClean)
    }

    @Test("A server that starts while another server creates the tables opens the database")
    func makingTables() async throws {
        let database = try StoreKind.postgresql.makeDatabase()
        let name = try #require(try database.texts("SELECT current_database()::text").first)
        // The server's query about the tables takes its snapshot, then waits for an advisory lock.
        try database.execute(
            """
            CREATE FUNCTION current_schema() RETURNS name LANGUAGE sql VOLATILE AS $$
                SELECT pg_advisory_xact_lock_shared(1); SELECT 'public'::name
            $$;
            ALTER DATABASE \(name) SET search_path = public, pg_catalog
            """
        )
        let other = try PostgresCluster.shared().connect(name)
        try other.connection.execute("SELECT pg_advisory_lock(1)")
        // Opening blocks its thread, so it runs on an extra thread.
        async let opened: Void = withCheckedThrowingContinuation { opened in
            Thread.detachNewThread { opened.resume(with: Result { _ = try database.open() }) }
        }
        try await eventually("the server's query waits for the lock") {
            let waiting = try other.connection.query(
                """
                SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
                WHERE datname = '\(name)' AND locktype = 'advisory' AND NOT granted
                """,
                read: { try $0.integer(0) }
            )
            return waiting.isEmpty ? nil : true
        }
        try other.connection.execute(
            """
            CREATE TABLE gotchu_migrations (
                version bigint PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now()
            )
            """
        )
        try other.connection.execute("SELECT pg_advisory_unlock(1)")
        try await opened
        #expect(try database.audit().isClean)
    }

    @Test("A database of a newer version or of another program is refused")
    func foreign() throws {
        let newer = try StoreKind.postgresql.makeDatabase()
        _ = try newer.open()
        try newer.execute("INSERT INTO gotchu_migrations (version) VALUES (99)")
        let other = try StoreKind.postgresql.makeDatabase()
        try other.execute("CREATE TABLE notes (text text)")
        for database in [newer, other] {
            let error = #expect(throws: LedgerError.self) { try database.open() }
            #expect(error?.code == .foreign)
        }
        #expect(
            try other.texts(
                "SELECT tablename::text FROM pg_tables "
                    + "WHERE schemaname = 'public'"
            ) == ["notes"]
        )
    }

    @Test("A running server does not write to tables that a newer program has changed")
    func outdated() async throws {
        let database = try StoreKind.postgresql.makeDatabase()
        let store = try database.open()
        try await withLedger(on: store) { ledger in
            let user = try await ledger.user("a", cents: 100)
            try database.execute("INSERT INTO gotchu_migrations (version) VALUES (99)")
            let error = await #expect(throws: LedgerError.self) {
                _ = try await ledger.user("b", cents: 100)
            }
            #expect(error?.description.contains("by a newer gotchu-server") == true)
            #expect(try await store.balance(of: user) == 100)
            try database.execute("DELETE FROM gotchu_migrations WHERE version = 99")
            _ = try await ledger.user("b", cents: 100)
        }
        #expect(try database.audit().isClean)
    }

    @Test("Devices and webhooks are not written to tables that a newer program has changed")
    func outdatedSideTables() async throws {
        let database = try await SampleLedger.database(.postgresql)
        let store = try database.open()
        let (outbox, registry) = (Outbox(store), DeviceRegistry(store))
        let endpoint = WebhookEndpoint(id: "a", url: "b", owner: nil, createdAt: .now)
        try await outbox.add(endpoint, secret: [1])
        try database.execute("INSERT INTO gotchu_migrations (version) VALUES (99)")
        let device = Device(
            id: .make(),
            user: Cast.users[0],
            name: "till",
            scopes: "payee",
            createdAt: .now,
            family: [1],
            current: [2],
            expiresAt: .now
        )
        let ended = WebhookDelivery.FinishedAttempt(
            id: .init(endpoint: "a", event: "e"),
            attempt: 1,
            outcome: .delivered
        )
        let calls: [@Sendable () async throws -> Void] = [
            { try await registry.add(device) },
            { try await outbox.finish([ended], at: .now) },
            { _ = try await registry.change(.make()) { $0.revoke(.byOperator, at: .now) } },
            { try await outbox.add(endpoint, secret: [1]) },
            { _ = try await outbox.remove("a") },
            { _ = try await outbox.claim(for: "a", at: .now, until: .now, limit: 1) },
            { _ = try await outbox.resend(event: nil, at: .now) },
        ]
        for (number, call) in calls.enumerated() {
            let refusal = await Self.refusal(call)
            #expect(
                refusal?.description.contains("by a newer gotchu-server") == true,
                "\(number): \(String(describing: refusal))"
            )
        }
        try database.execute("DELETE FROM gotchu_migrations WHERE version = 99")
        #expect(try await outbox.remove("a"))
    }

    @Test("A batch that waited for a newer program's migration is not written")
    func migrationDuringBatch() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let database = TestDatabase(postgresql: cluster.url(name))
        try await withLedger(on: try database.open()) { ledger in
            let user = try await ledger.user("a", cents: 100)
            let migration = try cluster.connect(name)
            try migration.connection.execute(
                """
                BEGIN; LOCK TABLE gotchu_migrations, users IN ACCESS EXCLUSIVE MODE;
                INSERT INTO gotchu_migrations (version) VALUES (99)
                """
            )
            async let late = Self.refusal { _ = try await ledger.user("b", cents: 100) }
            try await eventually("the batch waits for the migration") {
                try database.texts(
                    """
                    SELECT 'waits' FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                ).first
            }
            try migration.connection.execute("COMMIT")
            #expect(await late?.description.contains("by a newer gotchu-server") == true)
            try database.execute("DELETE FROM gotchu_migrations WHERE version = 99")
            #expect(try database.texts("SELECT id FROM users") == [user.rawValue])
        }
    }

    private static func refusal(_ body: () async throws -> Void) async -> LedgerError? {
        do { try await body() } catch { return error as? LedgerError }
        return nil
    }

    @Test("A database whose encoding cannot store all texts is refused")
    func encoding() throws {
        let cluster = try PostgresCluster.shared()
        let narrow = TestDatabase(
            postgresql: cluster.url(try cluster.makeDatabase(encoding: "LATIN1"))
        )
        let error = #expect(throws: LedgerError.self) { try narrow.open() }
        #expect(error?.fix?.contains("--encoding UTF8") == true)
        #expect(
            try narrow.texts("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
                == []
        )
        let plain = TestDatabase(
            postgresql: cluster.url(try cluster.makeDatabase(encoding: "SQL_ASCII"))
        )
        _ = try plain.open()
    }

    @Test("An open session keeps synchronous commits, and a new session without them is refused")
    func synchronousCommit() async throws {
        let cluster = try PostgresCluster()
        let name = try cluster.makeDatabase()
        func setting(_ link: PostgresCluster.Link) throws -> String? {
            try link.connection.query("SHOW synchronous_commit") { try $0.text(0) }.first
        }
        let ours = try cluster.connect(name)
        try PostgreSQLSession.prepare(ours.connection)
        let plain = try cluster.connect(name)
        let admin = try cluster.connect("postgres")
        try admin.connection.execute("ALTER SYSTEM SET synchronous_commit = off")
        try admin.connection.execute("SELECT pg_reload_conf()")
        try await eventually("another open session has no synchronous commits") {
            try setting(plain) == "off" ? true : nil
        }
        #expect(try setting(ours) == "on")
        // New sessions are refused.
        let database = TestDatabase(postgresql: cluster.url(name))
        let reloaded = #expect(throws: LedgerError.self) { try database.open() }
        #expect(reloaded?.code == .notDurable)
        #expect(reloaded?.fix?.contains("synchronous_commit") == true)
        try admin.connection.execute("ALTER SYSTEM RESET synchronous_commit")
        try admin.connection.execute("SELECT pg_reload_conf()")
        try await eventually("the other session has synchronous commits again") {
            try setting(plain) == "on" ? true : nil
        }
        _ = try database.open()
        let user = PostgresCluster.user
        try admin.connection.execute("ALTER ROLE \(user) SET synchronous_commit = local")
        let local = #expect(throws: LedgerError.self) { try database.open() }
        #expect(local?.code == .notDurable)
    }

    @Test("An engine whose sessions see each other's uncommitted rows is refused")
    func probe() throws {
        let database = try StoreKind.postgresql.makeDatabase()
        _ = try database.open()
        // One session takes both parts of the probe. It sees its own uncommitted rows, as another
        // session would see them in an engine without isolation.
        let cluster = try PostgresCluster.shared()
        let name = try #require(try database.texts("SELECT current_database()::text").first)
        let one = try cluster.connect(name)
        let error = #expect(throws: LedgerError.self) {
            try PostgreSQLProbe.run(one.connection, one.connection)
        }
        #expect(error?.code == .notDurable)
        let other = try cluster.connect(name)
        try one.connection.execute("ROLLBACK")
        try PostgreSQLProbe.run(one.connection, other.connection)
    }

    @Test("An unreachable database and a bad address are errors with a fix, without the password")
    func unreachable() {
        for url in ["postgres://u:sesame@127.0.0.1:1/x", "postgres://u:se@same@127.0.0.1:1/x"] {
            let error = #expect(throws: LedgerError.self) {
                try PostgreSQLStore(url: url, logger: TestDatabase.logger)
            }
            #expect(error?.code == .cannotOpen)
            #expect(error?.fix != nil)
            #expect("\(error as Any)".contains("same") == false)
        }
    }

    @Test("All servers of a database get the same secret for a name")
    func secret() async throws {
        let database = try StoreKind.postgresql.makeDatabase()
        let stores = try (0..<2).map { _ in
            try PostgreSQLStore(url: database.location, logger: TestDatabase.logger)
        }
        let first = try await stores[0].secret("a", proposal: [1, 2])
        #expect(first == [1, 2])
        #expect(try await stores[1].secret("a", proposal: [3]) == [1, 2])
        #expect(try await stores[1].secret("b", proposal: [3]) == [3])
    }

    @Test(
        "Payments in both directions through four servers do not deadlock or lose a cent",
        arguments: StoreKind.shared
    )
    func opposingPayments(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let stores = try (0..<4).map { _ in try database.open() }
        try await withLedger(on: try database.open()) { first in
            let users = [
                try await first.user("a", cents: 1_000), try await first.user("b", cents: 1_000),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, store) in stores.enumerated() {
                    group.addTask {
                        try await withLedger(on: store) { ledger in
                            try await Self.payments(number, on: ledger, users)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let balances = try await [
                stores[0].account(of: users[0]), stores[0].account(of: users[1]),
            ]
            #expect(balances.map { $0?.balance } == [1_000, 1_000])
            #expect(balances.map { $0?.entryCount } == [81, 81])
        }
        #expect(try database.audit().isClean)
    }

    /// Makes ten payments in each direction, all at once.
    private static func payments(
        _ server: Int,
        on ledger: Ledger,
        _ users: [UserID]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let (payee, payer) = (users[number % 2], users[1 - number % 2])
                    let session = try await ledger.lockedSession(
                        payee: payee,
                        payer: payer,
                        cents: 7
                    )
                    let key = "key-0123456789-\(server)-\(number)"
                    let answer = try await ledger.pay(session, by: payer, key: key)
                    #expect(answer.isAccepted)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "Simultaneous payments with one key at four servers make one payment and get one answer",
        arguments: StoreKind.shared
    )
    func oneKey(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let stores = try (0..<4).map { _ in try database.open() }
        let (payer, session) = try await withLedger(on: try database.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            return (payer, try await ledger.lockedSession(payee: payee, payer: payer, cents: 7))
        }
        let answers = try await withThrowingTaskGroup(of: CommandReply<Pay.Outcome>.self) { group in
            for store in stores {
                group.addTask {
                    try await withLedger(on: store) { ledger in
                        try await ledger.pay(session, by: payer, key: "key-0123456789-0")
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { !$0.isReplay } == 1)
        #expect(answers.allSatisfy { $0.outcome == answers[0].outcome && $0.isAccepted })
        #expect(try await stores[0].balance(of: payer) == 93)
        #expect(try database.audit().isClean)
    }
}
