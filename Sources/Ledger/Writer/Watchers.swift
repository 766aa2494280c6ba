internal import GotchuCore

/// The watchers of all subjects of one type.
struct Watchers<State: Watched> {
    typealias Mailbox = Watch<State>.Mailbox

    private var mailboxes: [State.Subject: [Int: Mailbox]] = [:]

    var subjects: Dictionary<State.Subject, [Int: Mailbox]>.Keys { mailboxes.keys }

    var isEmpty: Bool { mailboxes.isEmpty }

    func isWatched(_ subject: State.Subject) -> Bool { mailboxes[subject] != nil }

    mutating func insert(_ mailbox: Mailbox, _ id: Int, of subject: State.Subject) {
        mailboxes[subject, default: [:]][id] = mailbox
    }

    /// Removes a watcher. The caller must release its mailbox outside of any lock, because this may
    /// also release the watcher's callback.
    mutating func remove(_ id: Int, of subject: State.Subject) -> Mailbox? {
        let mailbox = mailboxes[subject]?.removeValue(forKey: id)
        if mailboxes[subject]?.isEmpty == true { mailboxes[subject] = nil }
        return mailbox
    }

    /// Passes a state to the watchers of its subject. Their callbacks must only set a flag.
    func put(_ state: State, noticedAt time: Timestamp? = nil) {
        guard let watchers = mailboxes[state.subject] else { return }
        for watcher in watchers.values { watcher.put(state, noticedAt: time) }
    }

    /// Sends a keep-alive to each watcher whose turn it is.
    func keepAlive(whose isTurn: (Int) -> Bool) {
        for watchers in mailboxes.values {
            for (id, watcher) in watchers where isTurn(id) { watcher.keepAlive() }
        }
    }

    /// All watchers' mailboxes.
    var all: [Mailbox] { mailboxes.values.flatMap(\.values) }
}
