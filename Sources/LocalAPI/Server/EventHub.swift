package import GotchuAPI
import Synchronization

/// Hands every event to every reader that may see it, and waits for none of them.
///
/// A reader that is too slow loses the newest events and is told how many with `lagged`. Money
/// never depends on this stream: it is for people and their screens.
package final class EventHub: Sendable {
    /// How many events wait for one reader.
    static let eventLimit = 256
    /// How many readers there can be.
    static let readerLimit = 64

    private let state = Mutex(State())

    private struct State {
        var readers: [Int: Reader] = [:]
        var nextID = 0
        var lagged = 0
    }

    private struct Reader {
        let levels: Set<AccessLevel>
        let output: AsyncStream<Event?>.Continuation
        var missed = 0

        /// - Returns: 1 if the event was lost, else 0.
        mutating func deliver(_ event: Event) -> Int {
            if missed > 0 {
                guard case .enqueued = output.yield(.lagged(missed)) else {
                    missed += 1
                    return 1
                }
                missed = 0
            }
            guard case .dropped = output.yield(event) else { return 0 }
            missed += 1
            return 1
        }
    }

    package init() {}

    /// How many events were not delivered to some reader since the start.
    package var laggedCount: Int { state.withLock(\.lagged) }

    /// Gives an event to every reader that may see it.
    package func publish(_ event: Event) {
        state.withLock { state in
            for id in state.readers.keys {
                guard var reader = state.readers[id], event.isVisible(to: reader.levels) else {
                    continue
                }
                state.lagged += reader.deliver(event)
                state.readers[id] = reader
            }
        }
    }

    /// Gives every reader a sign of life, so that one that has gone away is noticed when it is
    /// written.
    func beat() {
        state.withLock { state in
            for (id, reader) in state.readers {
                // What was missed is told at the latest now, even if nothing happens any more.
                if reader.missed > 0, case .enqueued = reader.output.yield(.lagged(reader.missed)) {
                    state.readers[id]?.missed = 0
                } else {
                    reader.output.yield(nil)
                }
            }
        }
    }

    /// Starts to read. The stream ends when its consumer does; a `nil` in it is a sign of life.
    ///
    /// - Returns: `nil` when there are already as many readers as there can be.
    func subscribe(levels: Set<AccessLevel>) -> AsyncStream<Event?>? {
        let (stream, output) = AsyncStream<Event?>.makeStream(
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
        return stream
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
