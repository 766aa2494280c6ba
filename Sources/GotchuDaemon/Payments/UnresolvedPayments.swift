import GotchuCore

/// The open payments and refunds whose end is not known yet, each with its reason.
struct UnresolvedPayments: Sendable {
    /// The time for which the server may leave a payment open before it is called unresolved.
    static let unresolvedAfter: Duration = .seconds(60)

    private struct Entry {
        var reason: UnresolvedReason
        /// The time of the first reason, this one or another.
        let since: MonotonicTime
        /// True once the server has refused the login of its own user.
        var isOwnLoginRefused = false
    }

    private var entries: [String: Entry] = [:]

    /// - Parameter ids: Those that a start finds open in the journal: nobody has been asked yet.
    init(_ ids: some Sequence<String>, at time: MonotonicTime) {
        for id in ids { entries[id] = Entry(reason: .noAnswer, since: time) }
    }

    subscript(id: String) -> UnresolvedReason? { entries[id]?.reason }

    /// - Returns: True if the reason is a new one.
    mutating func record(_ id: String, _ reason: UnresolvedReason, at time: MonotonicTime) -> Bool {
        let before = entries[id]
        var entry = before ?? Entry(reason: reason, since: time)
        entry.reason = reason
        if case .unauthorized = reason { entry.isOwnLoginRefused = true }
        entries[id] = entry
        return before?.reason != reason
    }

    /// A Boolean that is true if its own user cannot finish it, as far as the server says.
    func isOwnLoginRefused(_ id: String) -> Bool { entries[id]?.isOwnLoginRefused == true }

    mutating func remove(_ id: String) { entries[id] = nil }

    /// Returns true for one that a person should know of: it needs a person, or has lasted longer
    /// than a short outage.
    func isUnresolved(_ id: String, at time: MonotonicTime) -> Bool {
        entries[id].map {
            !$0.reason.endsByItself || time - $0.since >= Self.unresolvedAfter
        } ?? false
    }
}
