import GotchuCore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger

@Suite("The session feed", .timeLimit(.minutes(hangLimit)))
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
            let watch = try ledger.feed.watch(session.id, by: Login(user: Cast.users[0]))
            _ = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(try await watch.session().status == .paid)
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
            let ended = try await ledger.feed.watch(session.id, by: Login(user: Cast.users[0]))
                .session()
            #expect(ended.status == .timeout)
            #expect(ended.version == 2)
        }
    }

    @Test("watchers are counted, limited, and forgotten when they stop")
    func limits() throws {
        let feed = SessionFeed()
        var streams: [SessionWatch] = []
        for _ in 0..<SessionFeed.watchersPerSessionLimit {
            streams.append(try feed.watch(Cast.sessions[0], by: Login(user: Cast.users[0])))
        }
        #expect(throws: SessionFeedFull.ofAll) {
            try feed.watch(Cast.sessions[0], by: Login(user: Cast.users[1]))
        }
        for session in Cast.sessions[1...3] {
            for _ in 0..<SessionFeed.watchersPerSessionLimit {
                streams.append(try feed.watch(session, by: Login(user: Cast.users[0])))
            }
        }
        let another = try #require(SessionID(rawValue: "another"))
        #expect(throws: SessionFeedFull.ofLogin) {
            try feed.watch(another, by: Login(user: Cast.users[0]))
        }
        streams.append(try feed.watch(another, by: Login(user: Cast.users[1])))
        streams.removeFirst()
        streams.append(try feed.watch(another, by: Login(user: Cast.users[0])))
        streams.removeAll()
        #expect(feed.watcherCount == 0)
    }

    @Test("every watcher is given a sign of life within fifteen seconds")
    func quiet() throws {
        let feed = SessionFeed()
        let watches = try Cast.sessions.map { try feed.watch($0, by: Login(user: Cast.users[0])) }
        for _ in 0..<15 { feed.tick() }
        for watch in watches {
            #expect(watch.next() == .quiet)
            #expect(watch.next() == nil)
        }
    }

    @Test("who looks late is called at once, and finds the newest state alone")
    func late() async throws {
        let feed = SessionFeed()
        let watch = try feed.watch(Cast.sessions[0], by: Login(user: Cast.users[0]))
        for _ in 0..<15 { feed.tick() }
        // What another server has written may come in twice, and late.
        feed.publish([2, 4, 3].map { Cast.session(version: $0) })
        #expect(try await watch.session().version == 4)
        #expect(watch.next() == nil)
    }

    @Test("what is watched when the program stops, and later, ends")
    func end() async throws {
        let feed = SessionFeed()
        var watches = [try feed.watch(Cast.sessions[0], by: Login(user: Cast.users[0]))]
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await feed.run() }
            tasks.cancelAll()
        }
        watches.append(try feed.watch(Cast.sessions[1], by: Login(user: Cast.users[0])))
        for watch in watches {
            while let news = watch.next(), news != .over { #expect(news == .quiet) }
            #expect(watch.next() == .over)
        }
        watches.removeAll()
        #expect(feed.watcherCount == 0)
    }
}

extension SessionWatch {
    /// The next state that it is told of.
    fileprivate func session() async throws -> Session {
        let (calls, call) = AsyncStream.makeStream(of: Void.self)
        listen { call.yield() }
        for await _ in calls {
            if case .changed(let session) = next() { return session }
        }
        throw CancellationError()
    }
}
