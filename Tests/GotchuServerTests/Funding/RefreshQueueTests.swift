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
        queue.enqueue(record)
        queue.enqueue(record)
        #expect(queue.dequeue(at: start) == [record])
        queue.enqueue(record)
        #expect(queue.dequeue(at: start + .seconds(2)).isEmpty)
        queue.finish(record, isRepeated: false, at: start + .seconds(2))
        #expect(queue.isBusy(with: [record]))
        #expect(queue.dequeue(at: start + .seconds(2)) == [record])
        queue.finish(record, isRepeated: false, at: start + .seconds(2))
        #expect(!queue.isBusy(with: [record]))
        queue.enqueue(record)
        #expect(queue.dequeue(at: start + .milliseconds(2_999)).isEmpty)
        #expect(queue.dequeue(at: start + .seconds(3)) == [record])
    }

    @Test("A refresh that the database failed is repeated after five seconds, also after a webhook")
    mutating func retry() {
        queue.enqueue(record)
        #expect(queue.dequeue(at: start) == [record])
        queue.enqueue(record)
        let failed = start + .seconds(10)
        queue.finish(record, isRepeated: true, at: failed)
        #expect(queue.free == RefreshQueue.concurrency)
        #expect(queue.dequeue(at: failed + .milliseconds(4_999)).isEmpty)
        #expect(queue.dequeue(at: failed + RefreshQueue.retryInterval) == [record])
        queue.finish(record, isRepeated: false, at: failed + .seconds(20))
        #expect(queue.dequeue(at: failed + .seconds(60)).isEmpty)
    }

    @Test("Eight refreshes run at once, and the record that has waited longest is next")
    mutating func concurrency() {
        let records = (0..<10).map { _ in RecordID.make() }
        for record in records { queue.enqueue(record) }
        #expect(queue.dequeue(at: start) == Array(records.prefix(8)))
        #expect(queue.free == 0)
        #expect(queue.dequeue(at: start).isEmpty)
        queue.finish(records[3], isRepeated: true, at: start)
        #expect(queue.dequeue(at: start) == [records[8]])
    }

    @Test("A full queue refuses another record")
    mutating func limit() {
        for _ in 0..<RefreshQueue.limit { #expect(queue.enqueue(RecordID.make())) }
        #expect(!queue.enqueue(record))
    }
}
