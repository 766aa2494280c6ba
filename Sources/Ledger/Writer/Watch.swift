package import GotchuCore
internal import Synchronization

/// A state that can be watched. Only its newest version matters.
package protocol Watched: Sendable {
    associatedtype Subject: Hashable, Sendable

    /// The id of the object whose state it is.
    var subject: Subject { get }
    /// The version; it increases with each change of the subject.
    var version: Int64 { get }
}

extension Record: Watched {
    package var subject: RecordID { id }
}

/// An account with its newest entry.
extension AccountHistory: Watched {
    package var subject: Account.Key { account.key }
    package var version: Int64 { account.entryCount }
}

/// One watcher's subscription to the changes of a record or an account, for as long as it is held.
///
/// A slow watcher misses intermediate versions but never the newest one. Thousands may be idle at a
/// time, so it is a small object without a task or timer.
package final class Watch<State: Watched>: Sendable {
    package enum Update: Sendable {
        /// A new state. If there is a time, a payer's device was noticed then, and the state may be
        /// unchanged.
        case changed(State, noticedAt: Timestamp?)
        /// A keep-alive: nothing has happened for a while, and a write now detects a closed
        /// connection.
        case quiet
        /// The program is stopping; nothing follows.
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

    /// Sets the callback for updates and calls it once.
    ///
    /// - Parameter onUpdate: Called on any thread, possibly without an update. It must return
    ///   at once and must not call `next` itself.
    package func listen(_ onUpdate: @escaping @Sendable () -> Void) {
        mailbox.listen(onUpdate)
    }

    /// Removes and returns the updates since the last call as one; `nil` if there are none.
    package func next() -> Update? { mailbox.pop() }

    /// The newest state that the watcher has not seen, and the callback that wakes the watcher.
    final class Mailbox: Sendable {
        private struct Content {
            var newest: State?
            var noticedAt: Timestamp?
            var isQuiet = false
            var isOver = false
            var onUpdate: (@Sendable () -> Void)?
        }

        private let content = Mutex(Content())

        func put(_ state: State, noticedAt time: Timestamp? = nil) {
            update { content in
                // A version read because of another server's change may be older than one written
                // here.
                if state.version >= content.newest?.version ?? 0 { content.newest = state }
                content.noticedAt = time ?? content.noticedAt
            }
        }

        func keepAlive() { update { $0.isQuiet = true } }

        func end() { update { $0.isOver = true } }

        func listen(_ onUpdate: @escaping @Sendable () -> Void) {
            update { $0.onUpdate = onUpdate }
        }

        func pop() -> Update? {
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
            let onUpdate = content.withLock { content in
                change(&content)
                return content.onUpdate
            }
            onUpdate?()
        }
    }
}

extension Watch.Update: Equatable where State: Equatable {}
