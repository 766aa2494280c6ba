internal import Synchronization

/// The changes of a record that one watcher is told of, for as long as the watcher holds it.
///
/// State, not history: a slow watcher misses versions in between but never the newest one. Ten
/// thousand of them may be idle at a time, so that it is a small object without task or timer.
package final class RecordWatch: Sendable {
    package enum News: Equatable, Sendable {
        case changed(Record)
        /// Nothing has happened for a while; a reader who has gone away can be noticed now.
        case quiet
        /// The program stops: nothing more comes.
        case over
    }

    /// Receives its news. It does not keep the watch itself alive.
    let mailbox = Mailbox()
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called when nobody holds it any more.
    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    /// Has the watcher called when there is news, and at once if some has come already.
    ///
    /// - Parameter bell: Called on any thread, more often than there is news. It must return at
    ///   once and not take the news itself.
    package func listen(_ bell: @escaping @Sendable () -> Void) {
        mailbox.listen(bell)
    }

    /// The news that has come since the last time; `nil` if there is none.
    package func next() -> News? { mailbox.take() }

    /// The newest state that the watcher has not seen yet, and the bell that tells the watcher to
    /// look.
    final class Mailbox: Sendable {
        private struct State {
            var newest: Record?
            var isQuiet = false
            var isOver = false
            var bell: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        func put(_ record: Record) {
            // What was read for another server's sake may be older than what this one has written.
            ring { if record.version >= $0.newest?.version ?? 0 { $0.newest = record } }
        }

        func keepAlive() { ring { $0.isQuiet = true } }

        func end() { ring { $0.isOver = true } }

        func listen(_ bell: @escaping @Sendable () -> Void) { ring { $0.bell = bell } }

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

        private func ring(_ change: (inout State) -> Void) {
            let bell = state.withLock { state in
                change(&state)
                return state.bell
            }
            bell?()
        }
    }
}
