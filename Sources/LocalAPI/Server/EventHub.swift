package import GotchuAPI
package import GotchuCore
import Synchronization

/// Hands every event to every reader that may see it, and waits for none of them.
///
/// A reader that is too slow loses the newest events and is told how many with `lagged`. Money
/// never depends on this stream: it is for people and their screens.
package final class EventHub: Sendable {
    /// How many events wait for one reader.
    static let eventLimit = 256
    /// How many readers there can be.
    static let readerLimit = 128

    private let state = Mutex(State())

    private struct State {
        var readers: [Int: Reader] = [:]
        var nextID = 0
        var counts = Counts()
    }

    private struct Reader {
        let levels: Set<AccessLevel>
        let output: AsyncStream<Delivery>.Continuation
        var missed = 0

        /// - Returns: 1 if the event was lost, else 0.
        mutating func deliver(_ event: Event, at now: MonotonicTime) -> Int {
            if missed > 0 {
                guard case .enqueued = output.yield(Delivery(.lagged(missed), at: now)) else {
                    missed += 1
                    return 1
                }
                missed = 0
            }
            guard case .dropped = output.yield(Delivery(event, at: now)) else { return 0 }
            missed += 1
            return 1
        }
    }

    package init() {}

    /// What happened here since the start.
    package struct Counts: Sendable {
        /// Events, each counted once.
        package var published = 0
        /// Events that some reader was too slow for, counted for each such reader.
        package var dropped = 0
        /// How often a reader was told that it had missed some.
        package var lags = 0
        /// How many read now.
        package var readers = 0
        /// From an event to its line in a reader's socket.
        package var lag = Histogram.local
    }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.readers = state.readers.count
            return counts
        }
    }

    /// Gives an event to every reader that may see it; where there is none, it is not made.
    package func publish(_ event: @autoclosure () -> Event) {
        let hasReaders = state.withLock { state in
            state.counts.published += 1
            return !state.readers.isEmpty
        }
        guard hasReaders else { return }
        let event = event()
        let now = MonotonicTime.now
        state.withLock { state in
            for id in state.readers.keys {
                guard var reader = state.readers[id], event.isVisible(to: reader.levels) else {
                    continue
                }
                state.counts.dropped += reader.deliver(event, at: now)
                state.readers[id] = reader
            }
        }
    }

    /// Gives every reader a sign of life, so that one that has gone away is noticed when it is
    /// written.
    func beat() {
        let now = MonotonicTime.now
        state.withLock { state in
            for (id, reader) in state.readers {
                // What was missed is told at the latest now, even if nothing happens any more.
                let mark = Delivery(.lagged(reader.missed), at: now)
                if reader.missed > 0, case .enqueued = reader.output.yield(mark) {
                    state.readers[id]?.missed = 0
                } else {
                    reader.output.yield(Delivery(nil, at: now))
                }
            }
        }
    }

    /// An event has been written to a reader's socket.
    func noteWritten(_ delivery: Delivery) {
        guard delivery.event != nil else { return }
        let lag = MonotonicTime.now - delivery.publishedAt
        state.withLock { state in
            state.counts.lag.observe(lag)
            if case .lagged? = delivery.event { state.counts.lags += 1 }
        }
    }

    /// Ends what every reader reads: what it may see was decided when it came.
    package func endReaders() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return state.readers.values.map(\.output)
        }
        for reader in readers { reader.finish() }
    }

    /// Starts to read, until whoever reads lets go of it or `endReaders` is called.
    ///
    /// - Returns: `nil` when there are already as many readers as there can be.
    func subscribe(levels: Set<AccessLevel>) -> EventReader? {
        let (stream, output) = AsyncStream<Delivery>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.eventLimit)
        )
        let id = state.withLock { state -> Int? in
            guard state.readers.count < Self.readerLimit else { return nil }
            state.nextID += 1
            state.readers[state.nextID] = Reader(levels: levels, output: output)
            return state.nextID
        }
        guard let id else { return nil }
        output.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: id) }
        }
        return EventReader(stream: stream, output: output)
    }
}

extension Event {
    /// Whether a reader with these levels may see it.
    fileprivate func isVisible(to levels: Set<AccessLevel>) -> Bool {
        switch self {
        case .snapshot, .statusChanged, .presenceChanged, .presenceLost, .lagged: true
        case .requestChanged: levels.contains(.cashier)
        case .paymentChanged: levels.contains(.spender)
        }
    }
}
