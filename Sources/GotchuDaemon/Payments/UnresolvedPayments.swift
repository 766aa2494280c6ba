import GotchuCore

/// The open payments and refunds whose outcome is not known yet, each with its reason.
struct UnresolvedPayments: Sendable {
    /// The time after which a payment without an outcome counts as unresolved.
    static let unresolvedAfter: Duration = .seconds(60)

    private struct Entry {
        var reason: UnresolvedReason
        /// The time at which the first reason was recorded. Later reasons do not change it.
        let since: MonotonicTime
        /// True once the server has refused the login of the record's user.
        var isOwnLoginRefused = false
    }

    private var entries: [String: Entry] = [:]

    /// - Parameter ids: The records that were open at the start. The server was not asked about
    ///   them yet.
    init(_ ids: some Sequence<String>, at time: MonotonicTime) {
        for id in ids { entries[id] = Entry(reason: .noAnswer, since: time) }
    }

    subscript(id: String) -> UnresolvedReason? { entries[id]?.reason }

    /// - Returns: True if the reason has changed.
    mutating func record(_ id: String, _ reason: UnresolvedReason, at time: MonotonicTime) -> Bool {
        let before = entries[id]
        var entry = before ?? Entry(reason: reason, since: time)
        entry.reason = reason
        if case .unauthorized = reason { entry.isOwnLoginRefused = true }
        entries[id] = entry
        return before?.reason != reason
    }

    /// Returns true if the server has refused the login of the record's own user.
    func isOwnLoginRefused(_ id: String) -> Bool { entries[id]?.isOwnLoginRefused == true }

    mutating func remove(_ id: String) { entries[id] = nil }

    /// Returns true if the user should be informed: the record needs a person, or its outcome has
    /// been unknown for longer than a short outage.
    func isUnresolved(_ id: String, at time: MonotonicTime) -> Bool {
        entries[id].map {
            !$0.reason.resolvesAutomatically || time - $0.since >= Self.unresolvedAfter
        } ?? false
    }
}
