import GotchuCore
import LedgerStore
import LedgerTestSupport
import Payments
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// A connection that breaks at each moment of a commit.
@Suite("A commit whose connection breaks", .timeLimit(.minutes(hangLimit)))
struct BrokenCommitTests {
    private let books: TestBooks
    private let proxy: CuttingProxy
    private let store: PostgreSQLStore

    init() throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        proxy = try CuttingProxy(before: cluster)
        books = TestBooks(postgresql: cluster.url(name))
        store = try PostgreSQLStore(url: proxy.url(name), logger: TestBooks.logger)
    }

    private func open(_ user: Int) async throws -> Effects {
        try await Self.open(user, in: store)
    }

    private static func open(_ user: Int, in store: PostgreSQLStore) async throws -> Effects {
        try await store.commitOne(Cast.openAccount(user))
    }

    @Test("A connection that breaks while loading is made good without anybody noticing")
    func loading() async throws {
        _ = try await open(0)
        // The login is loaded first, then what it leads to.
        for (user, skipped) in [(1, 0), (2, 1)] {
            proxy.cut(.beforeRequest(skipping: skipped))
            #expect(try await open(user).newUsers.count == 1)
            proxy.cut(.afterRequest(skipping: skipped))
            #expect(try await open(user).newUsers.isEmpty)
        }
        #expect(proxy.cuts == 4)
        #expect(try books.audit().isClean)
    }

    @Test("A COMMIT that the server has not got is an unknown outcome, and nothing was written")
    func before() async throws {
        _ = try await open(0)
        proxy.cut(.beforeRequest(skipping: 2))
        let error = await #expect(throws: LedgerError.self) { try await open(1) }
        #expect(error?.code == .unknownOutcome)
        // Sent again it is decided as if for the first time.
        #expect(try await open(1).newUsers.count == 1)
        #expect(proxy.cuts == 1)
        #expect(try books.audit().isClean)
    }

    @Test("A COMMIT whose answer is lost is an unknown outcome too, and is found done")
    func after() async throws {
        _ = try await open(0)
        proxy.cut(.afterRequest(skipping: 2))
        let error = await #expect(throws: LedgerError.self) { try await open(1) }
        #expect(error?.code == .unknownOutcome)
        #expect(try await open(1).isEmpty)
        #expect(proxy.cuts == 1)
        #expect(try books.audit().isClean)
    }

    /// When a sync fails nobody knows what is on the disk: PostgreSQL says so, ends its processes
    /// and looks into its log anew, where it may find what it was about to commit.
    @Test("A commit in which PostgreSQL panics is an unknown outcome, and is found done")
    func panic() async throws {
        // What syncs its log in the background must not be what fails.
        let cluster = try PostgresCluster(
            settings: ["wal_writer_delay=10s"],
            faultLibrary: try await Faults.libraryPath()
        )
        let store = try PostgreSQLStore(
            url: cluster.url(try cluster.makeDatabase()),
            logger: TestBooks.logger
        )
        _ = try await Self.open(0, in: store)
        try cluster.faults?.failSync(of: "pg_wal")
        let error = await #expect(throws: LedgerError.self) { try await Self.open(1, in: store) }
        #expect(error?.code == .unknownOutcome)
        #expect(cluster.text.contains("PANIC:  could not fdatasync file"))
        let again = try await eventually("PostgreSQL is back") {
            try? await Self.open(1, in: store)
        }
        #expect(again.isEmpty)
    }

    /// PostgreSQL gives such a wait up with a mere warning and says that it has committed.
    @Test("A commit that waits for a replica no longer is an unknown outcome")
    func replicaAway() async throws {
        let cluster = try PostgresCluster()
        let name = try cluster.makeDatabase()
        let store = try PostgreSQLStore(url: cluster.url(name), logger: TestBooks.logger)
        let link = try cluster.connect("postgres")
        try link.connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try link.connection.execute("SELECT pg_reload_conf()")
        async let failure = Self.firstFailure(of: store)
        try await eventually("the wait is cancelled") {
            let cancelled = try link.connection.query(
                """
                SELECT pg_cancel_backend(pid)::int FROM pg_stat_activity
                WHERE wait_event = 'SyncRep'
                """,
                read: { try $0.integer(0) }
            )
            return cancelled == [1] ? true : nil
        }
        #expect(await failure?.code == .unknownOutcome)
        // Not our own patience: PostgreSQL's word came first.
        #expect("\(await failure as Any)".contains("01000"))
    }

    /// The wait for the replica was given up, so that everybody can see the payment; if the machine
    /// dies now, the replica knows nothing of it.
    @Test("Nobody is told of a payment before the replica has it, though it can be seen")
    func seenTooEarly() async throws {
        let cluster = try PostgresCluster()
        let store = try PostgreSQLStore(
            url: cluster.url(try cluster.makeDatabase()),
            logger: TestBooks.logger
        )
        try await withLedger(on: store) { ledger in
            let link = try cluster.connect("postgres")
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let key = Answer.Key(user: payer, command: Pay.name, key: Cast.keys[0])
            try await Self.replicate(to: "nobody", link, store, ledger)
            let unsure = try await Self.givingUp(link) {
                _ = try await ledger.pay(session, by: payer, key: key.key.rawValue)
            }
            #expect(unsure == .unknownOutcome)
            #expect(try await store.session(session.id)?.status == .paid)
            let shown = try await Self.givingUp(link) {
                _ = try await ledger.session(session.id, visibleTo: payee)
            }
            #expect(shown != nil)
            let told = try await Self.givingUp(link) { _ = try await ledger.answer(key) }
            #expect(told != nil)
            let found = try await Self.givingUp(link) {
                _ = try await ledger.published(session.eid)
            }
            #expect(found != nil)
            let newest = HistoryRange(.newest(skipping: 0), limit: 1)
            let history = try await Self.givingUp(link) {
                _ = try await ledger.history(of: Account.Key(.user(payee), .usd), newest)
            }
            #expect(history != nil)
            try await Self.replicate(to: "", link, store, ledger)
            #expect(try await ledger.answer(key)?.transfer?.record == RecordID(session.id))
            let account = try await ledger.history(of: Account.Key(.user(payee), .usd), newest)
            #expect(account?.account.balance == 7)
            let paid = try await ledger.session(session.id, visibleTo: payee).get()
            #expect(paid.status == .paid)
        }
    }

    /// Has commits wait for a replica of that name, or for none.
    private static func replicate(
        to name: String,
        _ link: PostgresCluster.Link,
        _ store: PostgreSQLStore,
        _ ledger: Ledger
    ) async throws {
        try link.connection.execute("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try link.connection.execute("SELECT pg_reload_conf()")
        try await eventually("commits wait for it, or do not any more") {
            let failure = try await givingUp(link) { try await ledger.probe() }
            return (failure == .unknownOutcome) == !name.isEmpty ? true : nil
        }
        try await store.look()
        #expect(store.readsAhead == !name.isEmpty)
    }

    /// The failure of `body` while every wait for a replica is given up as soon as it begins.
    private static func givingUp(
        _ link: PostgresCluster.Link,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> LedgerError.Code? {
        let end = End()
        async let code = Self.code(of: body, end)
        try await eventually("it ends") {
            _ = try link.connection.query(
                """
                SELECT pg_cancel_backend(pid)::int FROM pg_stat_activity
                WHERE wait_event = 'SyncRep'
                """,
                read: { try $0.integer(0) }
            )
            return end.isReached.load(ordering: .relaxed) ? true : nil
        }
        return await code
    }

    private static func code(
        of body: @Sendable () async throws -> Void,
        _ end: End
    ) async -> LedgerError.Code? {
        defer { end.isReached.store(true, ordering: .relaxed) }
        do {
            try await body()
            return nil
        } catch {
            return (error as? LedgerError)?.code
        }
    }

    private final class End: Sendable {
        let isReached = Atomic<Bool>(false)
    }

    /// The server takes its new configuration when it comes round to it: until then it commits.
    private static func firstFailure(of store: PostgreSQLStore) async -> LedgerError? {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            do throws(LedgerError) {
                try await store.commitOne(Probe())
            } catch {
                return error
            }
        }
        return nil
    }
}
