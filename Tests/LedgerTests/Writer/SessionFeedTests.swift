import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@Suite("The session feed", .timeLimit(.minutes(1)))
struct SessionFeedTests {
    private let store: SQLiteStore
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(path: folder.file("books.db"))
    }

    @Test("a watcher is told of each newer state up to the end")
    func changes() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            var changes = try #require(ledger.feed.watch(session.id)).makeAsyncIterator()
            _ = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(await changes.next()?.session?.status == .paid)
        }
    }

    @Test("a session that nobody touches is ended on time and its watchers are told")
    func expiry() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let created = try await ledger.create(
                CreateSession(
                    payee: payee,
                    amount: Money(minorUnits: 1),
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(1)
                )
            )
            guard case .accepted(let session) = created else {
                throw UnexpectedRefusal(description: "\(created)")
            }
            var changes = try #require(ledger.feed.watch(session.id)).makeAsyncIterator()
            let ended = await changes.next()?.session
            #expect(ended?.status == .timeout)
            #expect(ended?.version == 2)
        }
    }

    @Test("watchers are counted, limited, and forgotten when they stop")
    func limits() throws {
        let feed = SessionFeed()
        var streams: [SessionWatch] = []
        for _ in 0..<SessionFeed.watchersPerSessionLimit {
            streams.append(try #require(feed.watch(Cast.sessions[0])))
        }
        #expect(feed.watch(Cast.sessions[0]) == nil)
        #expect(feed.watch(Cast.sessions[1]) != nil)
        streams.removeAll()
        #expect(feed.watcherCount == 0)
    }

    @Test("every watcher is given a sign of life within fifteen seconds")
    func quiet() async throws {
        let feed = SessionFeed()
        let watches = try Cast.sessions.map { try #require(feed.watch($0)) }
        for _ in 0..<15 { feed.tick() }
        for watch in watches {
            var news = watch.makeAsyncIterator()
            #expect(await news.next() == .quiet)
        }
    }

    @Test("what is watched when the program stops, and later, ends")
    func end() async throws {
        let feed = SessionFeed()
        let watch = try #require(feed.watch(Cast.sessions[0]))
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await feed.run() }
            tasks.cancelAll()
        }
        for await news in watch { #expect(news == .quiet) }
        let late = try #require(feed.watch(Cast.sessions[1]))
        for await _ in late { Issue.record("nothing is told after the end") }
        #expect(feed.watcherCount == 0)
    }
}
