internal import Synchronization

/// One watcher's subscription to the changes of a record, for as long as it is held.
///
/// State, not history: a slow watcher misses versions in between but never the newest one. Ten
/// thousand of them may be idle at a time, so it is a small object without task or timer.
package final class RecordWatch: Sendable {
    package enum News: Equatable, Sendable {
        case changed(Record)
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
    package func next() -> News? { mailbox.take() }

    /// The newest state that the watcher has not seen, and the callback that wakes the watcher.
    final class Mailbox: Sendable {
        private struct State {
            var newest: Record?
            var isQuiet = false
            var isOver = false
            var onNews: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        func put(_ record: Record) {
            // A version that was read because of another server may be older than one written here.
            update { if record.version >= $0.newest?.version ?? 0 { $0.newest = record } }
        }

        func keepAlive() { update { $0.isQuiet = true } }

        func end() { update { $0.isOver = true } }

        func listen(_ onNews: @escaping @Sendable () -> Void) { update { $0.onNews = onNews } }

        func take() -> News? {
            state.withLock { state in
                if let record = state.newest.take() {
                    state.isQuiet = false
                    return .changed(record)
                }
                if state.isOver { return .over }
                guard state.isQuiet else { return nil }
                state.isQuiet = false
                return .quiet
            }
        }

        private func update(_ change: (inout State) -> Void) {
            let onNews = state.withLock { state in
                change(&state)
                return state.onNews
            }
            onNews?()
        }
    }
}
