package import GotchuCore
internal import Synchronization

/// A state that others follow, and of which the newest version alone matters.
package protocol Watched: Sendable {
    associatedtype Subject: Hashable, Sendable

    /// The id of what it is a state of.
    var subject: Subject { get }
    /// Grows with each change of the subject.
    var version: Int64 { get }
    /// The watchers that one subject may have.
    static var watcherLimit: Int { get }
}

extension Record: Watched {
    package static let watcherLimit = 16

    package var subject: RecordID { id }
}

/// An account with its newest entry.
extension AccountHistory: Watched {
    package static let watcherLimit = 64

    package var subject: Account.Key { account.key }
    package var version: Int64 { account.entryCount }
}

/// One watcher's subscription to the changes of a record or an account, for as long as it is held.
///
/// State, not history: a slow watcher misses versions in between but never the newest one. Ten
/// thousand of them may be idle at a time, so it is a small object without task or timer.
package final class Watch<State: Watched>: Sendable {
    package enum News: Sendable {
        /// Another state; or, with a time, perhaps the known one, because a payer's device was
        /// noticed then.
        case changed(State, noticedAt: Timestamp?)
        /// Nothing has happened for a while; a write now shows that a reader has gone.
        case quiet
        /// The program stops; nothing more comes.
        case over
    }

    /// The mailbox of this watch. It does not keep the watch itself alive.
    let mailbox = Mailbox()
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called when the watch is released.
    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    /// Sets the callback for news; calls it at once if there is some.
    ///
    /// - Parameter onNews: Called on any thread, more often than there is news. It must return at
    ///   once and not take the news itself.
    package func listen(_ onNews: @escaping @Sendable () -> Void) {
        mailbox.listen(onNews)
    }

    /// Removes and returns the news since the last call; `nil` if there is none.
    package func next() -> News? { mailbox.pop() }

    /// The newest state that the watcher has not seen, and the callback that wakes the watcher.
    final class Mailbox: Sendable {
        private struct Content {
            var newest: State?
            var noticedAt: Timestamp?
            var isQuiet = false
            var isOver = false
            var onNews: (@Sendable () -> Void)?
        }

        private let content = Mutex(Content())

        func put(_ state: State, noticedAt time: Timestamp? = nil) {
            update { content in
                // A version that was read because of another server may be older than one written
                // here.
                if state.version >= content.newest?.version ?? 0 { content.newest = state }
                content.noticedAt = time ?? content.noticedAt
            }
        }

        func keepAlive() { update { $0.isQuiet = true } }

        func end() { update { $0.isOver = true } }

        func listen(_ onNews: @escaping @Sendable () -> Void) { update { $0.onNews = onNews } }

        func pop() -> News? {
            content.withLock { content in
                if let state = content.newest.take() {
                    content.isQuiet = false
                    return .changed(state, noticedAt: content.noticedAt.take())
                }
                if content.isOver { return .over }
                guard content.isQuiet else { return nil }
                content.isQuiet = false
                return .quiet
            }
        }

        private func update(_ change: (inout Content) -> Void) {
            let onNews = content.withLock { content in
                change(&content)
                return content.onNews
            }
            onNews?()
        }
    }
}

extension Watch.News: Equatable where State: Equatable {}
