internal import GotchuCore

/// The watchers of all subjects of one type.
struct Watchers<State: Watched> {
    typealias Mailbox = Watch<State>.Mailbox

    private var mailboxes: [State.Subject: [Int: Mailbox]] = [:]

    var subjects: Dictionary<State.Subject, [Int: Mailbox]>.Keys { mailboxes.keys }

    var isEmpty: Bool { mailboxes.isEmpty }

    func isWatched(_ subject: State.Subject) -> Bool { mailboxes[subject] != nil }

    /// Returns true if a subject has as many watchers as it may.
    func isFull(_ subject: State.Subject) -> Bool {
        mailboxes[subject, default: [:]].count >= State.watcherLimit
    }

    mutating func insert(_ mailbox: Mailbox, _ id: Int, of subject: State.Subject) {
        mailboxes[subject, default: [:]][id] = mailbox
    }

    /// Removes a watcher. The caller releases its mailbox outside of any lock: the watcher's
    /// callback may end with it.
    mutating func remove(_ id: Int, of subject: State.Subject) -> Mailbox? {
        let mailbox = mailboxes[subject]?.removeValue(forKey: id)
        if mailboxes[subject]?.isEmpty == true { mailboxes[subject] = nil }
        return mailbox
    }

    /// Gives a state to the watchers of its subject, whose callbacks only set a flag.
    func put(_ state: State, noticedAt time: Timestamp? = nil) {
        guard let watchers = mailboxes[state.subject] else { return }
        for watcher in watchers.values { watcher.put(state, noticedAt: time) }
    }

    /// Gives a sign of life to each watcher whose turn it is.
    func keepAlive(whose isTurn: (Int) -> Bool) {
        for watchers in mailboxes.values {
            for (id, watcher) in watchers where isTurn(id) { watcher.keepAlive() }
        }
    }

    /// All watchers' mailboxes.
    var all: [Mailbox] { mailboxes.values.flatMap(\.values) }
}
