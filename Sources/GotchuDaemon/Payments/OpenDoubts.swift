import GotchuCore

/// The open payments and refunds whose end is not known yet, each with its reason.
struct OpenDoubts: Sendable {
    /// How long the server may leave a payment open before it is called unresolved.
    static let patience: Duration = .seconds(60)

    private struct Entry {
        var doubt: Doubt
        /// When it began, this reason or another.
        let since: MonotonicTime
        /// Whether the server has refused the login of its own user since.
        var isOwnLoginRefused = false
    }

    private var entries: [String: Entry] = [:]

    /// - Parameter ids: What a start finds open in the journal: nobody has been asked yet.
    init(_ ids: [String], at time: MonotonicTime) {
        for id in ids { entries[id] = Entry(doubt: .noAnswer, since: time) }
    }

    subscript(id: String) -> Doubt? { entries[id]?.doubt }

    /// - Returns: Whether that is news.
    mutating func note(_ id: String, _ doubt: Doubt, at time: MonotonicTime) -> Bool {
        let before = entries[id]
        var entry = before ?? Entry(doubt: doubt, since: time)
        entry.doubt = doubt
        if case .unauthorized = doubt { entry.isOwnLoginRefused = true }
        entries[id] = entry
        return before?.doubt != doubt
    }

    /// Whether its own user cannot finish it, as far as the server says.
    func isOwnLoginRefused(_ id: String) -> Bool { entries[id]?.isOwnLoginRefused == true }

    mutating func remove(_ id: String) { entries[id] = nil }

    /// Those that a person should know of: they need him, or have lasted longer than an outage of a
    /// moment.
    func unresolved(at time: MonotonicTime) -> Set<String> {
        Set(
            entries.filter {
                !$0.value.doubt.endsByItself || time - $0.value.since >= Self.patience
            }
            .keys
        )
    }
}
