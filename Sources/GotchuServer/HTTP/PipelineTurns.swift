internal import NIOCore
internal import NIOPosix

/// The pipelined requests of one event loop's connections that wait for their turn.
///
/// An event loop runs all tasks that are due before it looks at its connections again. So only one
/// of these requests is due at a time, for all connections together, and not before the loop has
/// served those that wait for a reply. Used on the event loop.
final class PipelineTurns {
    /// The time from one turn's end to the next. Any time makes the loop look at its connections.
    private static let delay: TimeAmount = .microseconds(100)
    // SAFETY: each thread has its own value.
    private nonisolated(unsafe) static let ofThread = ThreadSpecificVariable<PipelineTurns>()

    /// The turns of the current thread's event loop.
    static var current: PipelineTurns {
        if let turns = ofThread.currentValue { return turns }
        let turns = PipelineTurns()
        ofThread.currentValue = turns
        return turns
    }

    /// At most one for each connection.
    private var waiting = CircularBuffer<() -> Void>()
    private var isScheduled = false

    /// Calls `turn` on this event loop once it is first in the queue.
    func wait(_ loop: any EventLoop, _ turn: @escaping () -> Void) {
        waiting.append(turn)
        schedule(loop)
    }

    private func schedule(_ loop: any EventLoop) {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        loop.assumeIsolated().scheduleTask(in: Self.delay) {
            self.waiting.removeFirst()()
            self.isScheduled = false
            self.schedule(loop)
        }
    }
}
