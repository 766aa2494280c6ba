internal import GotchuCore
internal import Ledger
internal import Synchronization

/// The refresh queue that all tasks share, and a signal that a record was added.
final class SharedRefreshQueue: Sendable {
    /// The interval at which a caller that waits for a refresh polls the queue.
    private static let interval: Duration = .milliseconds(20)

    private let queue = Mutex(RefreshQueue())
    /// The signals to read the queue. Only one is buffered: its receiver reads the whole queue.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of further refreshes that may start.
    var free: Int { queue.withLock { $0.free } }

    func enqueue(_ record: RecordID) {
        if queue.withLock({ $0.enqueue(record) }) { wake() }
    }

    /// Queues records for a refresh, and waits until all are refreshed, at most for the time limit.
    func refresh(_ records: [RecordID], within limit: Duration) async {
        let end = MonotonicTime.now + limit
        for record in records { enqueue(record) }
        while MonotonicTime.now < end, queue.withLock({ $0.isBusy(with: records) }) {
            guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
        }
    }

    /// Signals the worker to read the queue.
    func wake() {
        signal.yield()
    }

    func dequeue() -> [RecordID] {
        let now = MonotonicTime.now
        return queue.withLock { $0.dequeue(at: now) }
    }

    func finish(_ record: RecordID, isRepeated: Bool) {
        let now = MonotonicTime.now
        queue.withLock { $0.finish(record, isRepeated: isRepeated, at: now) }
        wake()
    }
}
