import GotchuCore
import Ledger
import LedgerTestSupport
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

/// A connection that breaks at each moment of a commit.
@Suite("A commit whose connection breaks", .timeLimit(.minutes(2)))
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

    private func open(_ user: Int) async throws -> Decision {
        let open = Cast.openWallet(user)
        let command = Command(acceptedAt: .now, action: .openWallet(open))
        return try await store.commit(touching: Footprint([command])) { apply([command], to: $0) }
    }

    @Test("while loading is made good without anybody noticing")
    func loading() async throws {
        _ = try await open(0)
        proxy.cut(.beforeRequest(skipping: 0))
        #expect(try await open(1).effects.newUsers.count == 1)
        proxy.cut(.afterRequest(skipping: 0))
        #expect(try await open(2).effects.newUsers.count == 1)
        #expect(proxy.cuts == 2)
        #expect(try books.audit().isClean)
    }

    @Test("before the server has got it is an unknown outcome, and nothing was written")
    func before() async throws {
        _ = try await open(0)
        proxy.cut(.beforeRequest(skipping: 1))
        let error = await #expect(throws: LedgerError.self) { try await open(1) }
        #expect(error?.code == .unknownOutcome)
        // Sent again it is decided as if for the first time.
        #expect(try await open(1).effects.newUsers.count == 1)
        #expect(proxy.cuts == 1)
        #expect(try books.audit().isClean)
    }

    @Test("after the server has done it is an unknown outcome too, and is found done")
    func after() async throws {
        _ = try await open(0)
        proxy.cut(.afterRequest(skipping: 1))
        let error = await #expect(throws: LedgerError.self) { try await open(1) }
        #expect(error?.code == .unknownOutcome)
        #expect(try await open(1).effects.isEmpty)
        #expect(proxy.cuts == 1)
        #expect(try books.audit().isClean)
    }

    /// PostgreSQL gives such a wait up with a mere warning and says that it has committed.
    @Test("that waits for a replica no longer is an unknown outcome: one machine alone has it")
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

    /// The server takes its new configuration when it comes round to it: until then it commits.
    private static func firstFailure(of store: PostgreSQLStore) async -> LedgerError? {
        let probe = Command(acceptedAt: .now, action: .probe)
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            do throws(LedgerError) {
                _ = try await store.commit(touching: Footprint([probe])) { apply([probe], to: $0) }
            } catch {
                return error
            }
        }
        return nil
    }
}
