import Synchronization

/// Where a radio puts what it notices.
///
/// Bounded: when the consumer is slow the oldest events are dropped and counted, because a newer
/// sighting says all that an older one did. The newest state is kept: no sighting tells it again.
package struct RadioOutput: Sendable {
    private final class Memory: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var newest: RadioState?
        var drops = 0
    }

    private let continuation: AsyncStream<RadioEvent>.Continuation
    private let memory = Memory()

    /// - Parameter limit: How many events wait for the consumer; at least two.
    package static func makeStream(
        limit: Int
    ) -> (events: AsyncStream<RadioEvent>, output: RadioOutput) {
        let (events, continuation) = AsyncStream<RadioEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(limit)
        )
        return (events, RadioOutput(continuation: continuation))
    }

    private init(continuation: AsyncStream<RadioEvent>.Continuation) {
        self.continuation = continuation
    }

    /// How many events the consumer was too slow for.
    package var drops: Int { memory.state.withLock(\.drops) }

    package func yield(_ event: RadioEvent) {
        memory.state.withLock { state in
            if case .stateChanged(let new) = event { state.newest = new }
            guard case .dropped(let lost) = continuation.yield(event) else { return }
            state.drops += 1
            // In the place of the next oldest, which is then what was lost.
            if case .stateChanged(let old) = lost, old == state.newest { continuation.yield(lost) }
        }
    }

    package func finish() {
        continuation.finish()
    }
}
