internal import GotchuCore
internal import Ledger

/// The records that wait for a refresh from the provider, and those being refreshed. Pure.
///
/// A notification only says that a record may have changed. The new state is read from the
/// provider. Each record is refreshed by one task at a time and at most once a second. Forged or
/// repeated notifications cannot cause more calls.
struct RefreshQueue {
    /// The maximum number of waiting records. Records beyond it are refreshed when they are next
    /// due or listed.
    static let limit = 10_000
    /// The number of records that are refreshed concurrently.
    static let concurrency = 8
    /// The minimum time between the starts of two refreshes of one record.
    static let minimumInterval: Duration = .seconds(1)
    /// The delay before a refresh is repeated that failed only because the database did not answer.
    /// The lease of the record would end minutes later.
    static let retryInterval: Duration = .seconds(5)

    private var waiting: [RecordID] = []
    private var isWaiting: Set<RecordID> = []
    private var running: Set<RecordID> = []
    /// The earliest start times of the next refreshes, if they are in the future.
    private var earliestStarts: [RecordID: MonotonicTime] = [:]

    /// The number of further refreshes that may start.
    var free: Int { max(0, Self.concurrency - running.count) }

    /// Queues a record for a refresh.
    ///
    /// - Returns: False if the queue is full.
    @discardableResult
    mutating func enqueue(_ record: RecordID) -> Bool {
        guard !isWaiting.contains(record) else { return true }
        guard waiting.count < Self.limit else { return false }
        waiting.append(record)
        isWaiting.insert(record)
        return true
    }

    /// Starts as many refreshes as may start now, the longest waiting first. Returns their records.
    mutating func dequeue(at now: MonotonicTime) -> [RecordID] {
        earliestStarts = earliestStarts.filter { $0.value > now }
        var (started, rest): ([RecordID], [RecordID]) = ([], [])
        for record in waiting {
            let isTime = !running.contains(record) && earliestStarts[record] == nil
            if isTime, started.count < free {
                started.append(record)
            } else {
                rest.append(record)
            }
        }
        waiting = rest
        for record in started {
            isWaiting.remove(record)
            running.insert(record)
            earliestStarts[record] = now + Self.minimumInterval
        }
        return started
    }

    /// Returns true while any of the records waits for a refresh or is being refreshed.
    func isBusy(with records: [RecordID]) -> Bool {
        records.contains { isWaiting.contains($0) || running.contains($0) }
    }

    /// Ends a refresh.
    ///
    /// - Parameter isRepeated: Queues the record again, after the retry interval.
    mutating func finish(_ record: RecordID, isRepeated: Bool, at now: MonotonicTime) {
        running.remove(record)
        guard isRepeated, enqueue(record) else { return }
        earliestStarts[record] = now + Self.retryInterval
    }
}
