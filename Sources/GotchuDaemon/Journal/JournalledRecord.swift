/// A journal record of an operation that is driven to its end. It exists from before the first send
/// until the outcome is known, and is then kept for the history.
protocol JournalledRecord: Codable, Equatable, Sendable {
    var id: String { get }
    /// The URL of the payment server at which it was begun. It is never sent to another server.
    var server: String { get }
    /// The identity of the login with which it was begun. It is never sent as another user.
    var user: String { get }
    /// A Boolean that is true until the outcome is known.
    var isOpen: Bool { get }
    var line: JournalRecord { get }
}
