/// Who gets which signal: found by path, so that the cost of a signal does not grow with the number
/// of subscriptions to other paths.
struct SubscriptionTable {
    struct Entry {
        let rules: [MatchRule]
        /// Offered a signal before it would go into the stream.
        let take: (@Sendable (Signal) -> Bool)?
        let continuation: AsyncStream<Signal>.Continuation
        let drops: DropCount
    }

    private var byPath: [ObjectPath: [UInt64: Entry]] = [:]
    /// Those that name no path.
    private var broad: [UInt64: Entry] = [:]
    private(set) var count = 0

    mutating func insert(_ entry: Entry, id: UInt64) {
        count += 1
        if let path = Self.path(of: entry.rules) {
            byPath[path, default: [:]][id] = entry
        } else {
            broad[id] = entry
        }
    }

    mutating func remove(id: UInt64, rules: [MatchRule]) -> Entry? {
        let entry: Entry?
        if let path = Self.path(of: rules) {
            entry = byPath[path]?.removeValue(forKey: id)
            if byPath[path]?.isEmpty == true { byPath[path] = nil }
        } else {
            entry = broad.removeValue(forKey: id)
        }
        if entry != nil { count -= 1 }
        return entry
    }

    /// The path that all rules name.
    private static func path(of rules: [MatchRule]) -> ObjectPath? {
        guard let path = rules.first?.path, rules.allSatisfy({ $0.path == path }) else {
            return nil
        }
        return path
    }

    func wants(path: ObjectPath) -> Bool { !broad.isEmpty || byPath[path] != nil }

    func deliver(_ signal: Signal) {
        for entry in broad.values { deliver(signal, to: entry) }
        for entry in (byPath[signal.path] ?? [:]).values { deliver(signal, to: entry) }
    }

    mutating func finishAll() {
        for entry in broad.values { entry.continuation.finish() }
        for entries in byPath.values {
            for entry in entries.values { entry.continuation.finish() }
        }
        self = SubscriptionTable()
    }

    private func deliver(_ signal: Signal, to entry: Entry) {
        guard entry.rules.contains(where: { $0.matches(signal) }) else { return }
        if entry.take?(signal) == true { return }
        if case .dropped = entry.continuation.yield(signal) { entry.drops.add() }
    }
}
