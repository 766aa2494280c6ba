internal import GotchuCore
internal import Ledger
internal import Synchronization

/// The board of bells that all tasks share, and the signal that something is on it.
final class FundingBells: Sendable {
    /// The interval at which the board is read by those who wait for a look.
    private static let interval: Duration = .milliseconds(20)

    private let board = Mutex(BellBoard())
    /// One signal is enough, however many bells have rung.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of further looks that may begin.
    var free: Int { board.withLock { $0.free } }

    /// Has a record looked at soon.
    func ring(_ record: RecordID) {
        if board.withLock({ $0.ring(record) }) { wake() }
    }

    /// Has records looked at, and waits until they were, or for a time.
    func look(at records: [RecordID], within limit: Duration) async {
        let end = MonotonicTime.now + limit
        for record in records { ring(record) }
        while MonotonicTime.now < end, board.withLock({ $0.isBusy(with: records) }) {
            guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
        }
    }

    /// Has the board read.
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
