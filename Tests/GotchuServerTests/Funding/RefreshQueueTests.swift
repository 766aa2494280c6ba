import GotchuCore
import Ledger
import Testing

@testable import GotchuServer

/// Tests of the queue of records that wait for a refresh, with times that are passed in.
@Suite("The queue of refreshes")
struct RefreshQueueTests {
    private var queue = RefreshQueue()
    private let start = MonotonicTime.now
    private let record = RecordID.make()

    @Test("A record is refreshed by one task at a time, and at most once a second")
    mutating func pace() {
        var started: [RecordID]
        queue.enqueue(record)
        queue.enqueue(record)
        started = queue.dequeue(at: start)
        #expect(started == [record])
        queue.enqueue(record)
        started = queue.dequeue(at: start + .seconds(2))
        #expect(started.isEmpty)
        queue.finish(record, isRepeated: false, at: start + .seconds(2))
        #expect(queue.isBusy(with: [record]))
        started = queue.dequeue(at: start + .seconds(2))
        #expect(started == [record])
        queue.finish(record, isRepeated: false, at: start + .seconds(2))
        #expect(!queue.isBusy(with: [record]))
        queue.enqueue(record)
        started = queue.dequeue(at: start + .milliseconds(2_999))
        #expect(started.isEmpty)
        started = queue.dequeue(at: start + .seconds(3))
        #expect(started == [record])
    }

    @Test("A refresh that the database failed is repeated after five seconds, also after a webhook")
    mutating func retry() {
        var started: [RecordID]
        queue.enqueue(record)
        started = queue.dequeue(at: start)
        #expect(started == [record])
        queue.enqueue(record)
        let failed = start + .seconds(10)
        queue.finish(record, isRepeated: true, at: failed)
        #expect(queue.free == RefreshQueue.concurrency)
        started = queue.dequeue(at: failed + .milliseconds(4_999))
        #expect(started.isEmpty)
        started = queue.dequeue(at: failed + RefreshQueue.retryInterval)
        #expect(started == [record])
        queue.finish(record, isRepeated: false, at: failed + .seconds(20))
        started = queue.dequeue(at: failed + .seconds(60))
        #expect(started.isEmpty)
    }

    @Test("Eight refreshes run at once, and the record that has waited longest is next")
    mutating func concurrency() {
        var started: [RecordID]
        let records = (0..<10).map { _ in RecordID.make() }
        for record in records { queue.enqueue(record) }
        started = queue.dequeue(at: start)
        #expect(started == Array(records.prefix(8)))
        #expect(queue.free == 0)
        started = queue.dequeue(at: start)
        #expect(started.isEmpty)
        queue.finish(records[3], isRepeated: true, at: start)
        started = queue.dequeue(at: start)
        #expect(started == [records[8]])
    }

    @Test("A full queue refuses another record")
    mutating func limit() {
        let accepted = (0...RefreshQueue.limit).filter { _ in queue.enqueue(RecordID.make()) }
        #expect(accepted == Array(0..<RefreshQueue.limit))
    }
}
