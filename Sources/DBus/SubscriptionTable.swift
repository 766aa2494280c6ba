/// The subscriptions of a connection, indexed by path: the cost of a signal does not depend on the
/// number of subscriptions to other paths.
struct SubscriptionTable {
    struct Entry {
        let rules: [MatchRule]
        let onSignal: @Sendable (Signal) -> Void
    }

    private var byPath: [ObjectPath: [UInt64: Entry]] = [:]
    /// The subscriptions whose rules do not all name the same path.
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

    /// - Returns: True if the subscription existed.
    mutating func remove(id: UInt64, rules: [MatchRule]) -> Bool {
        let entry: Entry?
        if let path = Self.path(of: rules) {
            entry = byPath[path]?.removeValue(forKey: id)
            if byPath[path]?.isEmpty == true { byPath[path] = nil }
        } else {
            entry = broad.removeValue(forKey: id)
        }
        if entry != nil { count -= 1 }
        return entry != nil
    }

    /// Returns the path that all rules name; `nil` if there is none.
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

    private func deliver(_ signal: Signal, to entry: Entry) {
        guard entry.rules.contains(where: { $0.matches(signal) }) else { return }
        entry.onSignal(signal)
    }
}
