import GotchuAPI
import GotchuCore
import HummingbirdCore
import NIOCore
import Synchronization

/// The kinds of events. Access is controlled by kind.
enum EventTopic: Sendable {
    case status, sessions, requests, refunds, payments

    /// Returns the topics that a caller may read.
    ///
    /// - Parameter wantsSessions: True if the caller requested presences.
    static func readable(by levels: Set<AccessLevel>, wantsSessions: Bool) -> Set<EventTopic> {
        var topics: Set<EventTopic> = [.status]
        if wantsSessions { topics.insert(.sessions) }
        if levels.contains(.cashier) { topics.insert(.requests) }
        if levels.contains(.spender) { topics.formUnion([.refunds, .payments]) }
        return topics
    }
}

extension PaymentView {
    var topic: EventTopic { kind == .refund ? .refunds : .payments }
}

/// One event as a line. It is encoded once for all readers.
struct EventLine: Sendable {
    let topic: EventTopic
    let publishedAt: MonotonicTime
    /// JSON and a line feed.
    let bytes: [UInt8]

    init(_ event: Event, at now: MonotonicTime) {
        topic =
            switch event {
            case .snapshot, .statusChanged, .lagged: .status
            case .presenceChanged, .presenceLost: .sessions
            case .requestChanged: .requests
            case .paymentChanged(let payment): payment.topic
            }
        publishedAt = now
        bytes = Self.bytes(of: event)
    }

    static func bytes(of event: Event) -> [UInt8] {
        CanonicalJSON.bytes(of: event) + [UInt8(ascii: "\n")]
    }
}

/// One reader of events. The hub adds lines, and the reader's connection writes them.
final class EventReader: Sendable {
    /// The maximum number of events that wait for one reader.
    static let eventLimit = 256

    let topics: Set<EventTopic>
    let userID: UInt32
    private let pending = Mutex(Pending())
    private let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The lines to write, in order.
    struct Pending: Sendable {
        fileprivate(set) var lines: [EventLine] = []
        /// The number of events dropped because the queue was full.
        fileprivate(set) var missed = 0
        fileprivate var isHeartbeatDue = false

        /// The bytes to write: the lines, and a `lagged` event if events were dropped. If there is
        /// neither and a heartbeat is due, the heartbeat.
        var buffer: ByteBuffer {
            var buffer = ByteBuffer()
            for line in lines { buffer.writeBytes(line.bytes) }
            if missed > 0 { buffer.writeBytes(EventLine.bytes(of: .lagged(missed))) }
            if isHeartbeatDue, buffer.readableBytes == 0 { buffer.writeString("\n") }
            return buffer
        }
    }

    /// - Parameter onEnd: Called once, when the reader ends.
    init(topics: Set<EventTopic>, userID: UInt32, onEnd: @escaping @Sendable () -> Void) {
        self.topics = topics
        self.userID = userID
        wake.onTermination = { _ in onEnd() }
    }

    /// Adds the lines of the reader's topics and drops the rest.
    ///
    /// - Returns: The number of lines dropped because the queue was full.
    func append(_ lines: [EventLine]) -> Int {
        let readable = lines.filter { topics.contains($0.topic) }
        guard !readable.isEmpty else { return 0 }
        let missed = pending.withLock { pending in
            // After the first dropped event, all later ones are dropped too. `lagged` is thus
            // written at the place of the gap.
            let room = pending.missed == 0 ? Self.eventLimit - pending.lines.count : 0
            pending.lines += readable.prefix(room)
            let missed = max(0, readable.count - room)
            pending.missed += missed
            return missed
        }
        wake.yield()
        return missed
    }

    /// Schedules a heartbeat. It is written if there is nothing else to write. If the peer has
    /// gone, this write fails.
    func scheduleHeartbeat() {
        pending.withLock { $0.isHeartbeatDue = true }
        wake.yield()
    }

    /// Removes and returns everything that is to be written.
    func pop() -> Pending {
        pending.withLock { pending in
            defer { pending = Pending() }
            return pending
        }
    }

    /// Ends the reader. A wake-up from before the end is still handled.
    func end() { wake.finish() }

    /// Writes the hub's lines until the reader ends. While the peer does not read, the lines
    /// accumulate up to `eventLimit`.
    @concurrent func write(
        to writer: inout any ResponseBodyWriter,
        countingIn hub: EventHub
    ) async throws {
        for await _ in wakes {
            let next = pop()
            let buffer = next.buffer
            guard buffer.readableBytes > 0 else { continue }
            try await writer.write(buffer)
            hub.recordWritten(next)
        }
    }
}
