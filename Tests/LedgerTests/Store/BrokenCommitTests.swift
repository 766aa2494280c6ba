import GotchuCore
import Ledger
import PostgresTestSupport
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
}
