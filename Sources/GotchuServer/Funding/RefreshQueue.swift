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

    private var waiting: [RecordID] = []
    private var isWaiting: Set<RecordID> = []
    private var running: Set<RecordID> = []
    /// The start times of refreshes within the last second.
    private var recentStarts: [RecordID: MonotonicTime] = [:]

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
        recentStarts = recentStarts.filter { now - $0.value < Self.minimumInterval }
        var (started, rest): ([RecordID], [RecordID]) = ([], [])
        for record in waiting {
            let isTime = !running.contains(record) && recentStarts[record] == nil
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
            recentStarts[record] = now
        }
        return started
    }

    /// Returns true while any of the records waits for a refresh or is being refreshed.
    func isBusy(with records: [RecordID]) -> Bool {
        records.contains { isWaiting.contains($0) || running.contains($0) }
    }

    mutating func finish(_ record: RecordID) {
        running.remove(record)
    }
}
