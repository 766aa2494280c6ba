internal import GotchuCore
internal import Ledger
internal import Synchronization

/// The bell board shared by all tasks, and a signal that something was added to it.
final class FundingBells: Sendable {
    /// The interval at which callers that wait for a refresh poll the board.
    private static let interval: Duration = .milliseconds(20)

    private let board = Mutex(BellBoard())
    /// Keeps one signal only: the receiver reads the whole board.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of further refreshes that may start.
    var free: Int { board.withLock { $0.free } }

    /// Queues a record for a refresh soon.
    func ring(_ record: RecordID) {
        if board.withLock({ $0.ring(record) }) { wake() }
    }

    /// Queues records for a refresh, and waits until they are done, at most for the time limit.
    func look(at records: [RecordID], within limit: Duration) async {
        let end = MonotonicTime.now + limit
        for record in records { ring(record) }
        while MonotonicTime.now < end, board.withLock({ $0.isBusy(with: records) }) {
            guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
        }
    }

    /// Signals the worker to read the board.
    func wake() {
        signal.yield()
    }

    func begin() -> [RecordID] {
        let now = MonotonicTime.now
        return board.withLock { $0.begin(at: now) }
    }

    func end(_ record: RecordID) {
        board.withLock { $0.end(record) }
        wake()
    }
}
