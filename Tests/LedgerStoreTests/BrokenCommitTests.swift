import GotchuCore
import LedgerTestSupport
import Payments
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

/// Commits that are interrupted by a broken connection, a panic of PostgreSQL, or a cancelled wait
/// for a replica.
@Suite("Interrupted commits")
struct BrokenCommitTests {
    private let database: TestDatabase
    private let proxy: CuttingProxy
    private let store: PostgreSQLStore

    init() throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        proxy = try CuttingProxy(before: cluster)
        database = TestDatabase(postgresql: cluster.url(name))
        store = try PostgreSQLStore(url: proxy.url(name), logger: TestDatabase.logger)
    }

    private func open(_ user: Int) async throws -> Effects {
        try await Self.open(user, in: store)
    }

    private static func open(_ user: Int, in store: PostgreSQLStore) async throws -> Effects {
        try await store.commitOne(Cast.openAccount(user))
    }

    @Test("A connection that breaks while loading is replaced, and the commit succeeds")
    func loading() async throws {
        _ = try await open(0)
        // The first request of a commit looks up the login, the second reads the login's rows.
        for (user, skipped) in [(1, 0), (2, 1)] {
            proxy.cut(.beforeRequest(skipping: skipped))
            #expect(try await open(user).newUsers.count == 1)
            proxy.cut(.afterRequest(skipping: skipped))
            #expect(try await open(user).newUsers.isEmpty)
        }
        #expect(proxy.cuts == 4)
        #expect(try database.audit().isClean)
    }

    @Test("A COMMIT that never reaches PostgreSQL has an unknown outcome and writes nothing")
    func before() async throws {
        _ = try await open(0)
        proxy.cut(.beforeRequest(skipping: 2))
        let error = await #expect(throws: LedgerError.self) { try await open(1) }
        #expect(error?.code == .unknownOutcome)
        // The lost commit has written nothing, so the repeated command makes the user.
        #expect(try await open(1).newUsers.count == 1)
        #expect(proxy.cuts == 1)
        #expect(try database.audit().isClean)
    }

    @Test("A COMMIT whose answer is lost has an unknown outcome, and was carried out")
    func after() async throws {
        _ = try await open(0)
        proxy.cut(.afterRequest(skipping: 2))
        let error = await #expect(throws: LedgerError.self) { try await open(1) }
        #expect(error?.code == .unknownOutcome)
        #expect(try await open(1).isEmpty)
        #expect(proxy.cuts == 1)
        #expect(try database.audit().isClean)
    }

    /// PostgreSQL panics after a failed sync, because the state of its disk is unknown. It restarts
    /// its processes and replays its log, which may contain the commit.
    @Test("A commit in which PostgreSQL panics has an unknown outcome, and was carried out")
    func panic() async throws {
        // The sync of the commit must fail, not a sync of the log's background writer, so the
        // background writer waits for ten seconds.
        let cluster = try PostgresCluster(
            settings: ["wal_writer_delay=10s"],
            faultLibrary: try await Faults.libraryPath()
        )
        let store = try PostgreSQLStore(
            url: cluster.url(try cluster.makeDatabase()),
            logger: TestDatabase.logger
        )
        _ = try await Self.open(0, in: store)
        try cluster.faults?.failSync(of: "pg_wal")
        let error = await #expect(throws: LedgerError.self) { try await Self.open(1, in: store) }
        #expect(error?.code == .unknownOutcome)
        #expect(cluster.text.contains("PANIC:  could not fdatasync file"))
        let again = try await eventually("PostgreSQL accepts commits again") {
            try? await Self.open(1, in: store)
        }
        #expect(again.isEmpty)
    }

    /// PostgreSQL ends a cancelled wait for a replica with only a warning, and reports a commit.
    @Test("A commit whose wait for a replica was cancelled has an unknown outcome")
    func cancelledWait() async throws {
        let cluster = try PostgresCluster()
        let name = try cluster.makeDatabase()
        let store = try PostgreSQLStore(url: cluster.url(name), logger: TestDatabase.logger)
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
        // PostgreSQL's warning caused the failure, not our own time limit.
        #expect("\(await failure as Any)".contains("01000"))
    }

    /// The wait for the replica is cancelled. The payment can then be read from the primary, but
    /// would be lost if the primary failed.
    @Test("A payment that the replica does not have yet is stored, but reads of it fail")
    func unreplicatedPayment() async throws {
        let cluster = try PostgresCluster()
        let store = try PostgreSQLStore(
            url: cluster.url(try cluster.makeDatabase()),
            logger: TestDatabase.logger
        )
        try await withLedger(on: store) { ledger in
            let link = try cluster.connect("postgres")
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let key = Answer.Key(user: payer, command: Pay.name, key: Cast.keys[0])
            try await Self.replicate(to: "nobody", link, store, ledger)
            let payFailure = try await Self.failureWithCancelledWaits(link) {
                _ = try await ledger.pay(session, by: payer, key: key.key.rawValue)
            }
            #expect(payFailure == .unknownOutcome)
            #expect(try await store.session(session.id)?.status == .paid)
            let sessionReadFailure = try await Self.failureWithCancelledWaits(link) {
                _ = try await ledger.session(session.id, visibleTo: payee)
            }
            #expect(sessionReadFailure != nil)
            let answerReadFailure = try await Self.failureWithCancelledWaits(link) {
                _ = try await ledger.answer(key)
            }
            #expect(answerReadFailure != nil)
            let lookupFailure = try await Self.failureWithCancelledWaits(link) {
                _ = try await ledger.published(session.eid)
            }
            #expect(lookupFailure != nil)
            let newest = HistoryRange(.newest(skipping: 0), limit: 1)
            let historyReadFailure = try await Self.failureWithCancelledWaits(link) {
                _ = try await ledger.history(of: Account.Key(.user(payee), .usd), newest)
            }
            #expect(historyReadFailure != nil)
            try await Self.replicate(to: "", link, store, ledger)
            #expect(try await ledger.answer(key)?.transfer?.record == RecordID(session.id))
            let account = try await ledger.history(of: Account.Key(.user(payee), .usd), newest)
            #expect(account?.account.balance == 7)
            let paid = try await ledger.session(session.id, visibleTo: payee).get()
            #expect(paid.status == .paid)
        }
    }

    /// Makes commits wait for the replica `name`, or for no replica if `name` is empty.
    private static func replicate(
        to name: String,
        _ link: PostgresCluster.Link,
        _ store: PostgreSQLStore,
        _ ledger: Ledger
    ) async throws {
        try link.connection.execute("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try link.connection.execute("SELECT pg_reload_conf()")
        let replica = name.isEmpty ? "no replica" : "the replica \(name)"
        try await eventually("commits wait for \(replica)") {
            let failure = try await failureWithCancelledWaits(link) { try await ledger.probe() }
            return (failure == .unknownOutcome) == !name.isEmpty ? true : nil
        }
        try await store.checkHealth()
        #expect(store.mayReadUnreplicated == !name.isEmpty)
    }

    /// Returns the failure of `body`. Every wait for a replica is cancelled as soon as it begins.
    private static func failureWithCancelledWaits(
        _ link: PostgresCluster.Link,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> LedgerError.Code? {
        let completion = CompletionFlag()
        async let code = Self.code(of: body, completion)
        try await eventually("the call ends") {
            _ = try link.connection.query(
                """
                SELECT pg_cancel_backend(pid)::int FROM pg_stat_activity
                WHERE wait_event = 'SyncRep'
                """,
                read: { try $0.integer(0) }
            )
            return completion.isSet.load(ordering: .relaxed) ? true : nil
        }
        return await code
    }

    private static func code(
        of body: @Sendable () async throws -> Void,
        _ completion: CompletionFlag
    ) async -> LedgerError.Code? {
        defer { completion.isSet.store(true, ordering: .relaxed) }
        do {
            try await body()
            return nil
        } catch {
            return (error as? LedgerError)?.code
        }
    }

    private final class CompletionFlag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// Repeats a commit for up to 30 s, and returns the first failure. Commits succeed until
    /// PostgreSQL applies its new configuration.
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
