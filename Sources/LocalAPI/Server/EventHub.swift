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
    static let readerLimit = 320
    /// How many of them one user can have, so that nobody takes the events from others.
    static let userLimit = 128

    /// Up to how many readers are written where an event is published; there it is the radio's
    /// thread that waits meanwhile.
    static let directLimit = 16
    /// How many times there can be something to write to more than those, before it is lost.
    static let backlogLimit = 32

    private let state = Mutex(State())
    /// Said when there is a backlog.
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    private struct State {
        var readers: [Int: HubReader] = [:]
        var nextID = 0
        var counts = Counts()
        /// Oldest first; the one that is being written stays until all its readers have it.
        var backlog: [Backlog] = []
    }

    /// What was published at once, for those who read then.
    private struct Backlog {
        let deliveries: [Delivery]
        let chunks: [EventChunk]
        let readers: [Int]
        /// How many events each reader has lost behind these.
        var missed: [Int: Int] = [:]
    }

    package init() {
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

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
        publish(1) { _ in event() }
    }

    /// The same for several at once, which is much less work than for each by itself.
    ///
    /// - Parameter event: makes each of them, from 0 on.
    package func publish(_ count: Int, _ event: (Int) -> Event) {
        guard count > 0 else { return }
        let hasReaders = state.withLock { state in
            state.counts.published += count
            return !state.readers.isEmpty
        }
        guard hasReaders else { return }
        let now = MonotonicTime.now
        var deliveries: [Delivery] = []
        deliveries.reserveCapacity(count)
        for index in 0..<count { deliveries.append(Delivery(event(index), at: now)) }
        let chunks = EventChunk.chunks(of: deliveries)
        state.withLock { state in
            if state.backlog.isEmpty, state.readers.count <= Self.directLimit {
                for index in state.readers.values.indices {
                    state.readers.values[index].deliver(deliveries, chunks, counting: &state.counts)
                }
            } else if state.backlog.count < Self.backlogLimit {
                let readers = Array(state.readers.keys)
                state.backlog.append(
                    Backlog(deliveries: deliveries, chunks: chunks, readers: readers)
                )
                arrival.yield()
            } else {
                let last = state.backlog.endIndex - 1
                for (id, reader) in state.readers {
                    let count = reader.visible(deliveries).count
                    state.backlog[last].missed[id, default: 0] += count
                }
            }
        }
    }

    /// Writes what was published to many, until it is cancelled.
    func run() async {
        for await _ in arrivals { writeBacklog() }
    }

    /// Writes to one reader after the other: whoever publishes waits for one of them at most.
    func writeBacklog() {
        while let next = state.withLock({ $0.backlog.first }) {
            for id in next.readers {
                state.withLock {
                    $0.readers[id]?.deliver(next.deliveries, next.chunks, counting: &$0.counts)
                }
            }
            state.withLock { state in
                // Told now, and not when it was lost: what is kept came before.
                for (id, count) in state.backlog.removeFirst().missed {
                    state.readers[id]?.miss(count, counting: &state.counts)
                }
            }
        }
    }

    /// Gives every reader a sign of life, so that one that has gone away is noticed when it is
    /// written.
    func beat() {
        let now = MonotonicTime.now
        let sign = Delivery.signOfLife(at: now)
        let chunks = EventChunk.chunks(of: [sign])
        for id in state.withLock({ Array($0.readers.keys) }) {
            state.withLock { $0.readers[id]?.beat(sign, chunks) }
        }
    }

    /// A reader's task has written a delivery.
    func noteWritten(_ delivery: Delivery, by id: Int) {
        state.withLock { state in
            state.readers[id]?.noteWritten()
            state.counts.noteWritten([delivery], at: .now)
        }
    }

    /// A reader's task has nothing left to write, as far as it knows: the hub may write what comes.
    func handOver(_ socket: EventSocket, of id: Int) {
        state.withLock { $0.readers[id]?.handOver(socket) }
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
    /// - Returns: `nil` when this user, or all together, have as many readers as there can be.
    func subscribe(levels: Set<AccessLevel>, userID: UInt32) -> EventReader? {
        let (stream, output) = AsyncStream<Delivery>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.eventLimit)
        )
        let id = state.withLock { state -> Int? in
            guard state.readers.count < Self.readerLimit,
                state.readers.values.count(where: { $0.userID == userID }) < Self.userLimit
            else { return nil }
            state.nextID += 1
            state.readers[state.nextID] = HubReader(levels: levels, userID: userID, output: output)
            return state.nextID
        }
        guard let id else { return nil }
        output.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: id) }
        }
        return EventReader(stream: stream, output: output, hub: self, id: id)
    }
}

extension EventHub.Counts {
    /// Deliveries are with the kernel.
    mutating func noteWritten(_ deliveries: ArraySlice<Delivery>, at now: MonotonicTime) {
        for delivery in deliveries {
            switch delivery.kind {
            case .signOfLife: continue
            case .open, .restricted: break
            case .lagged: lags += 1
            }
            lag.observe(now - delivery.publishedAt)
        }
    }
}
