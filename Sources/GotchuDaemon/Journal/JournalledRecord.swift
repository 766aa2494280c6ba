import GotchuCore

/// A journal record of an operation that is driven to its end. It exists from before the first send
/// until the outcome is known, and is then kept for the history.
protocol JournalledRecord: Codable, Equatable, Sendable {
    var id: String { get }
    /// The URL of the payment server at which it was begun. It is never sent to another server.
    var server: String { get }
    /// The identity of the login with which it was begun. It is never sent as another user.
    var user: String { get }
    var createdAt: Timestamp { get }
    /// A Boolean that is true until the outcome is known.
    var isOpen: Bool { get }
    var line: JournalRecord { get }
}

extension Dictionary where Key == String {
    /// Removes the oldest ended records until at most `limit` records remain. Open records always
    /// remain.
    mutating func evictEnded(beyond limit: Int, _ record: (Value) -> any JournalledRecord) {
        let ended = values.map(record).filter { !$0.isOpen }.sorted { $0.createdAt < $1.createdAt }
        for record in ended.prefix(Swift.max(0, count - limit)) { self[record.id] = nil }
    }
}
