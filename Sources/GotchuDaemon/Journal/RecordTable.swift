/// Records by id, in the order in which they were added, which is the journal's order. What is old
/// is decided by this order and never by a time: the clock may have been wrong.
struct RecordTable<ID: Hashable & Sendable, Record: Sendable>: Sendable {
    private struct Entry {
        let number: Int
        var record: Record
    }

    private var entries: [ID: Entry] = [:]
    /// The number of the record that was added last.
    private var last = 0

    /// The records, oldest first.
    var values: [Record] { sorted.map(\.value.record) }

    private var sorted: [(key: ID, value: Entry)] {
        entries.sorted { $0.value.number < $1.value.number }
    }

    subscript(id: ID) -> Record? {
        get { entries[id]?.record }
        set {
            guard let newValue else { return entries[id] = nil }
            if entries[id] == nil { last += 1 }
            entries[id] = Entry(number: entries[id]?.number ?? last, record: newValue)
        }
    }

    /// Removes the oldest ended records until at most `limit` records remain. Open records always
    /// remain.
    ///
    /// - Returns: The ids of the removed records.
    @discardableResult
    mutating func evict(beyond limit: Int, where hasEnded: (Record) -> Bool) -> [ID] {
        guard entries.count > limit else { return [] }
        let ended = sorted.filter { hasEnded($0.value.record) }.map(\.key)
        let evicted = Array(ended.prefix(entries.count - limit))
        for id in evicted { entries[id] = nil }
        return evicted
    }
}
