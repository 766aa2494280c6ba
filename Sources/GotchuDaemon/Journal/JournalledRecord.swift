import GotchuCore

/// A record of the journal that is driven to its end: from before its first byte is sent until its
/// outcome is known.
protocol JournalledRecord: Codable, Equatable, Sendable {
    var id: String { get }
    /// The payment server at which it was begun, as a URL. It is never sent to another one.
    var server: String { get }
    /// The identity of the login that it was begun under. It is never sent as another user.
    var user: String { get }
    var createdAt: Timestamp { get }
    /// A Boolean that is true while it has to be driven to its end.
    var isOpen: Bool { get }
    /// Its line of the journal.
    var line: JournalRecord { get }
}

extension Dictionary where Key == String {
    /// Removes the oldest ended records beyond a limit.
    mutating func evictEnded(beyond limit: Int, _ record: (Value) -> any JournalledRecord) {
        let ended = values.map(record).filter { !$0.isOpen }.sorted { $0.createdAt < $1.createdAt }
        for record in ended.prefix(Swift.max(0, count - limit)) { self[record.id] = nil }
    }
}
