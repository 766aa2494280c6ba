import Synchronization

/// The calls that await a reply, and those that are queued to be sent.
struct CallTable: ~Copyable {
    typealias Reply = Result<[Value], DBusError>

    struct Pending {
        let id: UInt64
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Reply, Never>
        let onReply: (@Sendable ([Value]) -> Void)?
        /// The serial of its message; `nil` until it is sent.
        var serial: UInt32?
    }

    private var pending: [UInt64: Pending] = [:]
    private var idsBySerial: [UInt32: UInt64] = [:]
    /// A time that is not later than the earliest deadline. If it is earlier, one check finds
    /// nothing.
    private(set) var nextDeadline: ContinuousClock.Instant?
    /// The ids of the calls to send, in order. Those that ended in the queue are skipped.
    private var queue: [UInt64] = []
    private var queueHead = 0
    private var calls: [UInt64: MethodCall] = [:]

    /// The ids of cancelled calls, added by tasks on any thread.
    let cancellations = Cancellations()

    var isEmpty: Bool { pending.isEmpty }
    var inFlightCount: Int { idsBySerial.count }
    var waitingCount: Int { calls.count }

    mutating func insert(_ call: MethodCall, _ pending: Pending) {
        self.pending[pending.id] = pending
        calls[pending.id] = call
        queue.append(pending.id)
        nextDeadline = min(nextDeadline ?? pending.deadline, pending.deadline)
    }

    /// Removes and returns the next call to send.
    mutating func popWaiting() -> (UInt64, MethodCall)? {
        while queueHead < queue.count {
            let id = queue[queueHead]
            queueHead += 1
            if let call = calls.removeValue(forKey: id) { return (id, call) }
        }
        queue.removeAll(keepingCapacity: true)
        queueHead = 0
        return nil
    }

    mutating func markSent(_ id: UInt64, serial: UInt32) {
        pending[id]?.serial = serial
        idsBySerial[serial] = id
    }

    mutating func remove(serial: UInt32) -> Pending? {
        guard let id = idsBySerial[serial] else { return nil }
        return remove(id)
    }

    mutating func fail(_ id: UInt64, _ error: DBusError) {
        remove(id)?.continuation.resume(returning: .failure(error))
    }

    mutating func failExpired(now: ContinuousClock.Instant) {
        guard let nextDeadline, nextDeadline <= now else { return }
        for call in pending.values where call.deadline <= now {
            fail(call.id, DBusError(.timedOut))
        }
        self.nextDeadline = pending.values.lazy.map(\.deadline).min()
    }

    mutating func failCancelled() {
        for id in cancellations.popAll() { fail(id, DBusError(.cancelled)) }
    }

    mutating func failAll(_ error: DBusError) {
        for id in Array(pending.keys) { fail(id, error) }
        nextDeadline = nil
    }

    private mutating func remove(_ id: UInt64) -> Pending? {
        calls[id] = nil
        guard let call = pending.removeValue(forKey: id) else { return nil }
        if let serial = call.serial { idsBySerial[serial] = nil }
        return call
    }
}

/// The ids of calls whose tasks were cancelled, to be handled on the connection's thread.
final class Cancellations: Sendable {
    private let ids = Mutex<[UInt64]>([])

    func add(_ id: UInt64) {
        ids.withLock { $0.append(id) }
    }

    func popAll() -> [UInt64] {
        ids.withLock { ids in
            defer { ids = [] }
            return ids
        }
    }
}
