internal import Synchronization

/// What one watcher is told of a session.
///
/// State, not history: a slow watcher misses versions in between but never the newest one. Ten
/// thousand of them may be idle at a time, so that it is a small object without task or timer.
package struct SessionWatch: AsyncSequence, Sendable {
    package enum News: Equatable, Sendable {
        case changed(Session)
        /// Nothing has happened for a while; a reader who has gone away can be noticed now.
        case quiet

        package var session: Session? {
            if case .changed(let session) = self { session } else { nil }
        }
    }

    private let signals: AsyncStream<Void>
    /// Where its news is put. It does not keep the watch itself alive.
    let mailbox: Mailbox

    /// - Parameter onEnd: Called when nobody reads it any more.
    init(onEnd: @escaping @Sendable () -> Void) {
        let (signals, signal) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        signal.onTermination = { _ in onEnd() }
        self.signals = signals
        mailbox = Mailbox(signal: signal)
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator(), mailbox: mailbox)
    }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var signals: AsyncStream<Void>.Iterator
        fileprivate let mailbox: Mailbox

        package mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> News? {
            guard await signals.next(isolation: actor) != nil else { return nil }
            return mailbox.take().map(News.changed) ?? .quiet
        }
    }

    /// The newest state that the watcher has not seen yet, and the bell that tells him to look.
    final class Mailbox: Sendable {
        private let newest = Mutex<Session?>(nil)
        private let signal: AsyncStream<Void>.Continuation

        init(signal: AsyncStream<Void>.Continuation) {
            self.signal = signal
        }

        func put(_ session: Session) {
            // What was read for another server's sake may be older than what this one has written.
            newest.withLock { if session.version >= $0?.version ?? 0 { $0 = session } }
            signal.yield()
        }

        func keepAlive() { signal.yield() }

        func end() { signal.finish() }

        func take() -> Session? { newest.withLock { $0.take() } }
    }
}
