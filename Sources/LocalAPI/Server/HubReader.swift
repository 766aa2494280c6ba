import GotchuAPI
import GotchuCore

/// What the hub knows of one reader. Used within its lock.
///
/// Nearly always the kernel has room for an event and takes it at once. When it has none, events
/// wait here for the reader's task, which writes them when there is room again.
struct HubReader {
    let levels: Set<AccessLevel>
    let userID: UInt32
    let output: AsyncStream<Delivery>.Continuation
    /// Events that it was too slow for and has not been told of.
    private var missed = 0
    /// Deliveries that its task has not written yet: nothing goes past them.
    private var waiting = 0
    /// Where to write directly; `nil` while its task writes, and while it is to be told of a loss.
    private var socket: EventSocket?

    init(
        levels: Set<AccessLevel>,
        userID: UInt32,
        output: AsyncStream<Delivery>.Continuation
    ) {
        self.levels = levels
        self.userID = userID
        self.output = output
    }

    /// Gives the reader those events that it may see.
    ///
    /// - Parameter chunks: All of them.
    mutating func deliver(
        _ deliveries: [Delivery],
        _ chunks: [EventChunk],
        counting counts: inout EventHub.Counts
    ) {
        let visible = visible(deliveries)
        guard !visible.isEmpty else { return }
        let mine =
            visible.count == deliveries.count ? chunks : EventChunk.chunks(of: visible)
        for chunk in mine {
            // Once one waits, the socket is not this one's any more, and the others wait too.
            if let socket, socket.write(chunk.bytes) {
                counts.noteWritten(chunk.deliveries, at: .now)
                continue
            }
            for delivery in chunk.deliveries where !queue(delivery) {
                missed += 1
                counts.dropped += 1
            }
        }
    }

    /// Loses events that it might have seen.
    mutating func miss(_ count: Int, counting counts: inout EventHub.Counts) {
        guard count > 0 else { return }
        // What comes next waits behind the mark.
        socket = nil
        missed += count
        counts.dropped += count
    }

    /// Those that it may see.
    func visible(_ deliveries: [Delivery]) -> [Delivery] {
        // Nearly always all of them.
        deliveries.allSatisfy { $0.isVisible(to: levels) }
            ? deliveries : deliveries.filter { $0.isVisible(to: levels) }
    }

    /// Gives it a sign of life.
    mutating func beat(_ sign: Delivery, _ chunks: [EventChunk]) {
        if let socket, chunks.allSatisfy({ socket.write($0.bytes) }) { return }
        // What was missed is told at the latest now, even if nothing happens any more.
        if missed == 0 { _ = enqueue(sign) } else { _ = queueMark(at: sign.publishedAt) }
    }

    /// Its task has written a delivery.
    mutating func noteWritten() { waiting -= 1 }

    /// Its task has written all that it was given. Unless there is more by now, what comes is
    /// written directly.
    mutating func handOver(_ socket: EventSocket) {
        if waiting == 0, missed == 0 { self.socket = socket }
    }

    /// - Returns: `false` if there is no room.
    private mutating func queue(_ delivery: Delivery) -> Bool {
        guard missed == 0 || queueMark(at: delivery.publishedAt) else { return false }
        return enqueue(delivery)
    }

    private mutating func queueMark(at now: MonotonicTime) -> Bool {
        guard enqueue(Delivery(.lagged(missed), at: now)) else { return false }
        missed = 0
        return true
    }

    private mutating func enqueue(_ delivery: Delivery) -> Bool {
        socket = nil
        guard case .enqueued = output.yield(delivery) else { return false }
        waiting += 1
        return true
    }
}
