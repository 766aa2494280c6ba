import GotchuCore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger
@testable import Payments

@Suite("The record feed", .timeLimit(.minutes(hangLimit)))
struct RecordFeedTests {
    private let store = MemoryStore()
    private let records = Cast.sessions.map { RecordID($0) }

    @Test("A watcher is told of each newer state up to the end")
    func changes() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let watch = try ledger.feed.watch(session.recordID, by: "first")
            _ = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            let paid = try await watch.record()
            #expect(paid.state == "PAID" && paid.version == 3)
        }
    }

    @Test("A session that nobody touches expires on time and its watchers are told")
    func expiry() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let session = try await ledger.openSession(
                payee: payee,
                cents: 1,
                lifetime: .seconds(1)
            )
            let ended = try await ledger.feed.watch(session.recordID, by: "first")
                .record()
            #expect(try Session(ended).status == .timeout)
            #expect(ended.version == 2)
        }
    }

    @Test("Watchers are counted, limited, and forgotten when they stop")
    func limits() throws {
        let feed = RecordFeed()
        var streams: [RecordWatch] = []
        for _ in 0..<RecordFeed.watchersPerRecordLimit {
            streams.append(try feed.watch(records[0], by: "first"))
        }
        #expect(throws: RecordFeedFull.ofAll) {
            try feed.watch(records[0], by: "second")
        }
        for record in records[1...3] {
            for _ in 0..<RecordFeed.watchersPerRecordLimit {
                streams.append(try feed.watch(record, by: "first"))
            }
        }
        let another = RecordID(trusted: "another")
        #expect(throws: RecordFeedFull.ofLogin) {
            try feed.watch(another, by: "first")
        }
        streams.append(try feed.watch(another, by: "second"))
        streams.removeFirst()
        streams.append(try feed.watch(another, by: "first"))
        streams.removeAll()
        #expect(feed.watcherCount == 0)
    }

    @Test("Every watcher is given a sign of life within fifteen seconds")
    func quiet() throws {
        let feed = RecordFeed()
        let watches = try records.map { try feed.watch($0, by: "first") }
        for _ in 0..<15 { feed.tick() }
        for watch in watches {
            #expect(watch.next() == .quiet)
            #expect(watch.next() == nil)
        }
    }

    @Test("A watcher who looks late is called at once, and finds the newest state alone")
    func late() async throws {
        let feed = RecordFeed()
        let watch = try feed.watch(records[0], by: "first")
        for _ in 0..<15 { feed.tick() }
        // What another server has written may come in twice, and late.
        feed.publish([2, 4, 3].map { Cast.record(version: $0) })
        #expect(try await watch.record().version == 4)
        #expect(watch.next() == nil)
    }

    @Test("A watch that is open when the program stops ends, and one that comes later too")
    func end() async throws {
        let feed = RecordFeed()
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

extension RecordWatch {
    /// The next version that it is told of.
    fileprivate func record() async throws -> Record {
        let (calls, call) = AsyncStream.makeStream(of: Void.self)
        listen { call.yield() }
        for await _ in calls {
            if case .changed(let record) = next() { return record }
        }
        throw CancellationError()
    }
}
