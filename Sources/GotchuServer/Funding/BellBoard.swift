internal import GotchuCore
internal import Ledger

/// The records that are to be looked at, and those that are being looked at. Pure.
///
/// A bell says that something may have happened to a record; what has happened is looked up. Each
/// record is looked at by one task at a time and once a second at most, however often it rings, so
/// that nobody who can make it ring makes more calls than that.
struct BellBoard {
    /// The largest number of records that wait. More are left to the list of events.
    static let limit = 10_000
    /// The number of records that are looked at beside each other.
    static let concurrency = 8
    /// The shortest time between two looks at one record.
    static let distance: Duration = .seconds(1)

    private var waiting: [RecordID] = []
    private var isWaiting: Set<RecordID> = []
    private var running: Set<RecordID> = []
    /// The beginnings of looks within the last second.
    private var begun: [RecordID: MonotonicTime] = [:]

    /// The number of further looks that may begin.
    var free: Int { max(0, Self.concurrency - running.count) }

    /// Notes that a record is to be looked at.
    ///
    /// - Returns: False if too many wait.
    @discardableResult
    mutating func ring(_ record: RecordID) -> Bool {
        guard !isWaiting.contains(record) else { return true }
        guard waiting.count < Self.limit else { return false }
        waiting.append(record)
        isWaiting.insert(record)
        return true
    }

    /// Returns the records whose looks begin now, the longest waiting first.
    mutating func begin(at now: MonotonicTime) -> [RecordID] {
        begun = begun.filter { now - $0.value < Self.distance }
        var (started, rest): ([RecordID], [RecordID]) = ([], [])
        for record in waiting {
            let isTime = !running.contains(record) && begun[record] == nil
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
            begun[record] = now
        }
        return started
    }

    /// Returns true while one of the records waits for a look, or is looked at.
    func isBusy(with records: [RecordID]) -> Bool {
        records.contains { isWaiting.contains($0) || running.contains($0) }
    }

    mutating func end(_ record: RecordID) {
        running.remove(record)
    }
}
