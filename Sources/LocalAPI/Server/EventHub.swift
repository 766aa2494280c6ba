package import GotchuAPI
package import GotchuCore
import Synchronization

/// Delivers each event to all readers. Each event is encoded once and appended to each reader's
/// buffer.
///
/// The hub never waits for a reader. A slow reader loses the newest events, and a `lagged` event
/// reports their number. The stream is for people and screens. No movement of money depends on it.
package final class EventHub: Sendable {
    /// The maximum number of readers.
    static let readerLimit = 320
    /// The maximum number of readers of one user. One user therefore cannot use up all readers.
    static let userLimit = 128

    private let state = Mutex(State())

    private struct State {
        var readers: [Int: EventReader] = [:]
        var nextID = 0
        var counts = Counts()
    }

    package init() {}

    /// Counts since the start.
    package struct Counts: Sendable {
        /// The number of events that were published while there was a reader.
        package var published = 0
        /// The number of events that slow readers lost. An event counts once for each reader that
        /// lost it.
        package var dropped = 0
        /// The number of `lagged` events written.
        package var lags = 0
        /// The current number of readers.
        package var readers = 0
        /// The time from an event's publication to its write to a reader's connection.
        package var lag = Histogram.local
    }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.readers = state.readers.count
            return counts
        }
    }

    /// A Boolean that is true while a reader subscribes to the topic `sessions`.
    package var hasSessionReaders: Bool {
        state.withLock { $0.readers.values.contains { $0.topics.contains(.sessions) } }
    }

    /// Publishes an event. It is encoded as JSON on the caller's thread; for presences, this is the
    /// radio's thread. If there is no reader, the event is not created.
    package func publish(_ event: @autoclosure () -> Event) {
        publish([event()])
    }

    /// Publishes several events, which are written together. If there is no reader, they are not
    /// created.
    package func publish(_ events: @autoclosure () -> [Event]) {
        guard state.withLock({ !$0.readers.isEmpty }) else { return }
        let now = MonotonicTime.now
        let lines = events().map { EventLine($0, at: now) }
        guard !lines.isEmpty else { return }
        state.withLock { state in
            state.counts.published += lines.count
            for reader in state.readers.values { state.counts.dropped += reader.append(lines) }
        }
    }

    /// Sends a heartbeat to every reader.
    func sendHeartbeat() {
        for reader in state.withLock(\.readers.values) { reader.scheduleHeartbeat() }
    }

    /// Counts the lines that were written to a reader's connection.
    func recordWritten(_ written: EventReader.Pending) {
        let now = MonotonicTime.now
        state.withLock { state in
            if written.missed > 0 { state.counts.lags += 1 }
            for line in written.lines { state.counts.lag.observe(now - line.publishedAt) }
        }
    }

    /// Ends every reader. Access is checked only when a reader subscribes.
    package func endReaders() {
        for reader in state.withLock(\.readers.values) { reader.end() }
    }

    /// Adds a reader. It collects events until it ends.
    ///
    /// - Returns: `nil` if this user, or all users together, have the maximum number of readers.
    func subscribe(topics: Set<EventTopic>, userID: UInt32) -> EventReader? {
        state.withLock { state in
            guard state.readers.count < Self.readerLimit,
                state.readers.values.count(where: { $0.userID == userID }) < Self.userLimit
            else { return nil }
            state.nextID += 1
            let id = state.nextID
            let reader = EventReader(topics: topics, userID: userID) { [weak self] in
                self?.state.withLock { _ = $0.readers.removeValue(forKey: id) }
            }
            state.readers[id] = reader
            return reader
        }
    }
}
