import Foundation
import GotchuCore
import LedgerTestSupport
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger

@Suite("The PostgreSQL store", .timeLimit(.minutes(hangLimit)))
struct PostgreSQLStoreTests {
    @Test("ten servers that start together bring the tables up to date once")
    func migrateTogether() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try books.open() } }
            try await group.waitForAll()
        }
        let versions = try books.texts("SELECT version::text FROM gotchu_migrations")
        #expect(versions.count == Int(PostgreSQLSchema.newestVersion))
        #expect(try books.audit().isClean)
    }

    @Test("tables that another server is just making are not taken for those of another schema")
    func makingTables() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        let name = try #require(try books.texts("SELECT current_database()::text").first)
        // Whoever asks for the tables sees those of before, and has the answer once a lock is free.
        try books.execute(
            """
            CREATE FUNCTION current_schema() RETURNS name LANGUAGE sql VOLATILE AS $$
                SELECT pg_advisory_xact_lock_shared(1); SELECT 'public'::name
            $$;
            ALTER DATABASE \(name) SET search_path = public, pg_catalog
            """
        )
        let other = try PostgresCluster.shared().connect(name)
        try other.connection.execute("SELECT pg_advisory_lock(1)")
        // Opening blocks, on a machine of one core too.
        async let opened: Void = withCheckedThrowingContinuation { opened in
            Thread.detachNewThread { opened.resume(with: Result { _ = try books.open() }) }
        }
        try await eventually("it asks") {
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
        #expect(try books.audit().isClean)
    }

    @Test("a database of a newer program or of another one is refused")
    func foreign() throws {
        let newer = try StoreKind.postgresql.makeBooks()
        _ = try newer.open()
        try newer.execute("INSERT INTO gotchu_migrations (version) VALUES (99)")
        let other = try StoreKind.postgresql.makeBooks()
        try other.execute("CREATE TABLE notes (text text)")
        for books in [newer, other] {
            let error = #expect(throws: LedgerError.self) { try books.open() }
            #expect(error?.code == .foreign)
        }
        #expect(
            try other.texts(
                "SELECT tablename::text FROM pg_tables "
                    + "WHERE schemaname = 'public'"
            ) == ["notes"]
        )
    }

    @Test("tables that a newer program has changed are written no more by a server that still runs")
    func outdated() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        try await withLedger(on: try books.open()) { ledger in
            let user = try await ledger.user("a", cents: 100)
            try books.execute("INSERT INTO gotchu_migrations (version) VALUES (99)")
            let error = await #expect(throws: LedgerError.self) {
                _ = try await ledger.user("b", cents: 100)
            }
            #expect(error?.description.contains("by a newer gotchu-server") == true)
            #expect(try await ledger.statement(of: user, entries: 1)?.wallet.balance == 100)
            try books.execute("DELETE FROM gotchu_migrations WHERE version = 99")
            _ = try await ledger.user("b", cents: 100)
        }
        #expect(try books.audit().isClean)
    }

    @Test("what is written beside payments is not written to a newer program's tables either")
    func outdatedBesides() async throws {
        let books = try await Planted.books(.postgresql)
        let store = try books.open()
        let endpoint = WebhookEndpoint(id: "a", url: "b", payee: nil, createdAt: .now)
        let seal = Seal(number: 1, transfer: TransferID(trusted: "a"), hash: [1])
        try await store.add(endpoint, secret: [1])
        try books.execute("INSERT INTO gotchu_migrations (version) VALUES (99)")
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
        let ended = WebhookDelivery.Ended(
            name: .init(endpoint: "a", event: "e"),
            attempt: 1,
            outcome: .delivered
        )
        let calls: [@Sendable () async throws -> Void] = [
            { try await store.add(device) },
            { try await store.finish([ended], at: .now) },
            { _ = try await store.change(DeviceID.make()) { $0.revoke(.byOperator, at: .now) } },
            { try await store.add(endpoint, secret: [1]) },
            { _ = try await store.removeWebhookEndpoint("a") },
            { _ = try await store.claimDeliveries(for: "a", at: .now, until: .now, limit: 1) },
            { _ = try await store.resendWebhooks(event: nil, at: .now) },
            { try await store.append([seal]) },
        ]
        for (number, call) in calls.enumerated() {
            let refusal = await Self.refusal(call)
            #expect(
                refusal?.description.contains("by a newer gotchu-server") == true,
                "\(number): \(String(describing: refusal))"
            )
        }
        try books.execute("DELETE FROM gotchu_migrations WHERE version = 99")
        #expect(try await store.removeWebhookEndpoint("a"))
    }

    @Test("a batch that waits for a newer program's changes is not written to them")
    func overtaken() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let books = TestBooks(postgresql: cluster.url(name))
        try await withLedger(on: try books.open()) { ledger in
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
                try books.texts(
                    """
                    SELECT 'waits' FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                ).first
            }
            try migration.connection.execute("COMMIT")
            #expect(await late?.description.contains("by a newer gotchu-server") == true)
            try books.execute("DELETE FROM gotchu_migrations WHERE version = 99")
            #expect(try books.texts("SELECT id FROM users") == [user.rawValue])
        }
    }

    private static func refusal(_ body: () async throws -> Void) async -> LedgerError? {
        do { try await body() } catch { return error as? LedgerError }
        return nil
    }

    @Test("a database to which some texts cannot be written is refused")
    func encoding() throws {
        let cluster = try PostgresCluster.shared()
        let narrow = TestBooks(
            postgresql: cluster.url(try cluster.makeDatabase(encoding: "LATIN1"))
        )
        let error = #expect(throws: LedgerError.self) { try narrow.open() }
        #expect(error?.fix?.contains("--encoding UTF8") == true)
        #expect(
            try narrow.texts("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
                == []
        )
        let plain = TestBooks(
            postgresql: cluster.url(try cluster.makeDatabase(encoding: "SQL_ASCII"))
        )
        _ = try plain.open()
    }

    @Test("a database that would forget commits is refused")
    func durability() throws {
        let books = try StoreKind.postgresql.makeBooks()
        let name = try #require(try books.texts("SELECT current_database()::text").first)
        try books.execute("ALTER DATABASE \(name) SET synchronous_commit = off")
        let error = #expect(throws: LedgerError.self) { try books.open() }
        #expect(error?.code == .notDurable)
        #expect(error?.fix?.contains("synchronous_commit") == true)
    }

    @Test("a promise that was found holds for the session; none is made by a role that makes none")
    func pinned() async throws {
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
        try await eventually("other sessions forget their promise") {
            try setting(plain) == "off" ? true : nil
        }
        #expect(try setting(ours) == "on")
        // New sessions are not used at all.
        let books = TestBooks(postgresql: cluster.url(name))
        let reloaded = #expect(throws: LedgerError.self) { try books.open() }
        #expect(reloaded?.code == .notDurable)
        try admin.connection.execute("ALTER SYSTEM RESET synchronous_commit")
        try admin.connection.execute("SELECT pg_reload_conf()")
        try await eventually("the promise is made again") {
            try setting(plain) == "on" ? true : nil
        }
        _ = try books.open()
        let user = PostgresCluster.user
        try admin.connection.execute("ALTER ROLE \(user) SET synchronous_commit = local")
        let local = #expect(throws: LedgerError.self) { try books.open() }
        #expect(local?.code == .notDurable)
    }

    @Test("an engine that does not undo, lock or hide half a transaction is refused")
    func probe() throws {
        let books = try StoreKind.postgresql.makeBooks()
        _ = try books.open()
        // Seen by this session, every row of the probe is what was just written: an engine that
        // does not keep transactions apart looks like this.
        let cluster = try PostgresCluster.shared()
        let name = try #require(try books.texts("SELECT current_database()::text").first)
        let one = try cluster.connect(name)
        let error = #expect(throws: LedgerError.self) {
            try PostgreSQLProbe.run(one.connection, one.connection)
        }
        #expect(error?.code == .notDurable)
        let other = try cluster.connect(name)
        try one.connection.execute("ROLLBACK")
        try PostgreSQLProbe.run(one.connection, other.connection)
    }

    @Test("nobody there, and a bad address, are errors that say what to do")
    func unreachable() {
        for url in ["postgres://u:sesame@127.0.0.1:1/x", "postgres://u:se@same@127.0.0.1:1/x"] {
            let error = #expect(throws: LedgerError.self) {
                try PostgreSQLStore(url: url, logger: TestBooks.logger)
            }
            #expect(error?.code == .cannotOpen)
            #expect(error?.fix != nil)
            #expect("\(error as Any)".contains("same") == false)
        }
    }

    @Test("one secret for all servers of a database")
    func secret() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        let stores = try (0..<2).map { _ in
            try PostgreSQLStore(url: books.place, logger: TestBooks.logger)
        }
        let first = try await stores[0].secret("a", proposal: [1, 2])
        #expect(first == [1, 2])
        #expect(try await stores[1].secret("a", proposal: [3]) == [1, 2])
        #expect(try await stores[1].secret("b", proposal: [3]) == [3])
    }

    @Test("payments to and fro through four servers: no deadlock is seen, not a cent is lost")
    func storm() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        let stores = try (0..<4).map { _ in try books.open() }
        try await withLedger(on: try books.open()) { first in
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
                stores[0].statement(of: users[0], entries: 1)?.wallet,
                stores[0].statement(of: users[1], entries: 1)?.wallet,
            ]
            #expect(balances.map { $0?.balance } == [1_000, 1_000])
            #expect(balances.map { $0?.entryCount } == [81, 81])
        }
        #expect(try books.audit().isClean)
    }

    /// Ten payments in each direction, all at once.
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
                    #expect(answer.send.outcome.isPaid)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("one key at four servers at once is one payment and one answer")
    func oneKey() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        let stores = try (0..<4).map { _ in try books.open() }
        let (payer, session) = try await withLedger(on: try books.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            return (payer, try await ledger.lockedSession(payee: payee, payer: payer, cents: 7))
        }
        let answers = try await withThrowingTaskGroup(of: SendAnswer.self) { group in
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
        #expect(answers.allSatisfy { $0.send == answers[0].send })
        #expect(try await stores[0].statement(of: payer, entries: 1)?.wallet.balance == 93)
    }
}
