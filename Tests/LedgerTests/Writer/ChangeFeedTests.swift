import GotchuCore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import Payments

@Suite("The feed of changes")
struct ChangeFeedTests {
    private let store = MemoryStore()
    private let records = Cast.sessions.map { RecordID($0) }

    @Test("A watcher receives the new state of its record")
    func changes() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let watch = try ledger.feed.watch(session.recordID, by: "first")
            _ = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            let paid = try await watch.state()
            #expect(paid.state == "PAID" && paid.version == 3)
        }
    }

    @Test("A watcher of an account receives its balance and newest entry, and no other account's")
    func accounts() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let other = try await ledger.user("other", cents: 0)
            let watches = try [payee, payer, other].map {
                try ledger.feed.watch(Account.Key(.user($0), .usd), by: "first")
            }
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            _ = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            let paid = try await watches[1].state()
            #expect(paid.account.balance == 93 && paid.version == 2)
            #expect(paid.entries.map(\.entry.amount) == [-7])
            #expect(paid.entries.first?.record?.id == session.recordID)
            let stored = try await ledger.history(of: paid.subject, .newest)
            #expect(stored == paid)
            #expect(try await watches[0].state().account.balance == 7)
            #expect(watches[2].next() == nil)
        }
    }

    @Test("A session that nobody touches expires on time, and its watchers are notified")
    func expiry() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let session = try await ledger.openSession(
                payee: payee,
                cents: 1,
                lifetime: .seconds(1)
            )
            let ended = try await ledger.feed.watch(session.recordID, by: "first")
                .state()
            #expect(try Session(ended).status == .expired)
            #expect(ended.version == 2)
        }
    }

    @Test("The number of watchers is limited, and watchers that have stopped do not count")
    func limits() throws {
        let feed = ChangeFeed()
        var streams: [Watch<Record>] = []
        for _ in 0..<ChangeFeed.defaultWatchersPerLogin {
            streams.append(try feed.watch(records[0], by: "first"))
        }
        for record in records[0...1] {
            #expect(throws: ChangeFeedFull.perLogin) { try feed.watch(record, by: "first") }
            streams.append(try feed.watch(record, by: "second"))
        }
        streams.removeFirst()
        streams.append(try feed.watch(records[1], by: "first"))
        while feed.watcherCount < ChangeFeed.watcherLimit {
            streams.append(try feed.watch(records[0], by: "\(feed.watcherCount)"))
        }
        #expect(throws: ChangeFeedFull.allLogins) { try feed.watch(records[0], by: "third") }
        streams.removeAll()
        #expect(feed.watcherCount == 0)
    }

    @Test("Every watcher gets one keep-alive in fifteen seconds")
    func quiet() throws {
        let feed = ChangeFeed()
        let watches = try records.map { try feed.watch($0, by: "first") }
        for _ in 0..<15 { feed.tick() }
        for watch in watches {
            #expect(watch.next() == .quiet)
            #expect(watch.next() == nil)
        }
    }

    @Test("A listener that is set after changes is called at once and gets only the newest state")
    func late() async throws {
        let feed = ChangeFeed()
        let watch = try feed.watch(records[0], by: "first")
        for _ in 0..<15 { feed.tick() }
        // Changes by another server may arrive late and out of order.
        for version: Int64 in [2, 4, 3] { feed.publish(Cast.record(version: version)) }
        #expect(try await watch.state().version == 4)
        #expect(watch.next() == nil)
    }

    @Test("A notice repeats a record to its watchers, at most once in two seconds")
    func notice() throws {
        let feed = ChangeFeed()
        let watch = try feed.watch(records[0], by: "first")
        let record = Cast.record(version: 2)
        let (time, now) = (Timestamp.now, MonotonicTime.now)
        #expect(feed.notice(record, at: time, now: now))
        #expect(watch.next() == .changed(record, noticedAt: time))
        #expect(watch.next() == nil)
        #expect(!feed.notice(record, at: time, now: now + .milliseconds(1_999)))
        #expect(watch.next() == nil)
        #expect(feed.notice(record, at: time, now: now + .seconds(2)))
        feed.publish(Cast.record(version: 3))
        #expect(watch.next() == .changed(Cast.record(version: 3), noticedAt: time))
        #expect(watch.next() == nil)
    }

    @Test("A watch ends when the program stops, and a watch that begins later ends too")
    func end() async throws {
        let feed = ChangeFeed()
        var watches = [try feed.watch(records[0], by: "first")]
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await feed.run() }
            tasks.cancelAll()
        }
        watches.append(try feed.watch(records[1], by: "first"))
        for watch in watches {
            while let news = watch.next(), news != .over { #expect(news == .quiet) }
            #expect(watch.next() == .over)
        }
        watches.removeAll()
        #expect(feed.watcherCount == 0)
    }
}

extension Watch {
    /// Waits for the next change, and returns the new state.
    fileprivate func state() async throws -> State {
        let (calls, call) = AsyncStream.makeStream(of: Void.self)
        listen { call.yield() }
        for await _ in calls {
            if case .changed(let state, _) = next() { return state }
        }
        throw CancellationError()
    }
}
