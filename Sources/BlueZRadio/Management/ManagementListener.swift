import BlueZ
import CLinux
import DBus
import Glibc
import GotchuCore
import Synchronization

/// Reads the management socket on the radio's thread.
///
/// Reports are evaluated on the same thread. Most reports are not ours; each of these costs a
/// system call and some comparisons, but no thread switch.
final class ManagementListener: BusThread.Pump {
    /// An event other than a report.
    enum Notice: Equatable, Sendable {
        /// The kernel lets us listen.
        case permitted
        /// The kernel has lost this number of frames since the last notice.
        case overflowed(Int)
        /// This number of frames violated the protocol.
        case malformed(Int)
        /// Nothing is read any more.
        case ended(ManagementFailure)
    }

    /// The number of frames read in one turn before other work is done.
    private static let batch = 256
    /// The time within which the kernel must answer whether listening is permitted.
    private static let answerLimit: Duration = .seconds(2)

    private let socket: ManagementSocket
    private let serviceUUID: UUID16
    private let onReport: @Sendable (ManagementReport) -> Void
    private let onNotice: @Sendable (Notice) -> Void
    private let thread: BusThread
    private let state = Mutex(State())

    private struct State {
        var buffer: [UInt8] = []
        /// The kernel's count of dropped frames when it was last read.
        var dropped = 0
        /// The time by which the kernel must have answered; `nil` once it has.
        var answerDue: ContinuousClock.Instant?
        /// The pauses in which reports are left unread, to be read together.
        var batching = ReadBatching()
        var hasEnded = true
    }

    private struct Tally {
        var frames = 0
        var malformed = 0
        var overflows = 0
    }

    /// - Parameters:
    ///   - thread: Reads the socket and calls both closures.
    ///   - onReport: Receives every report.
    ///   - onNotice: Receives all other events; `ended` is last, and never sent after `stop()`.
    init(
        _ socket: consuming ManagementSocket,
        on thread: BusThread,
        serviceUUID: UUID16,
        onReport: @escaping @Sendable (ManagementReport) -> Void,
        onNotice: @escaping @Sendable (Notice) -> Void
    ) {
        self.socket = socket
        self.thread = thread
        self.serviceUUID = serviceUUID
        self.onReport = onReport
        self.onNotice = onNotice
    }

    /// Starts listening. Listening ends when the listener is no longer referenced.
    func start() throws(ManagementFailure) {
        try socket.queryPermission()
        state.withLock { state in
            state.buffer = [UInt8](repeating: 0, count: ManagementEvent.frameLimit)
            state.dropped = Int(clinux_socket_drops(socket.descriptor))
            state.answerDue = .now + Self.answerLimit
            state.hasEnded = false
        }
        thread.watch(self)
    }

    /// Stops listening. A report that is being read at this moment may still be delivered.
    func stop() {
        state.withLock { $0.hasEnded = true }
        thread.forget(self)
    }

    /// Stops listening because of a failure that was detected elsewhere.
    func fail(_ failure: ManagementFailure) {
        stop()
        onNotice(.ended(failure))
    }

    // MARK: On the thread

    func pump() -> BusThread.Interest? {
        state.withLock { state in
            guard !state.hasEnded else { return nil }
            do throws(ManagementFailure) {
                return try turn(&state)
            } catch {
                state.hasEnded = true
                onNotice(.ended(error))
                return nil
            }
        }
    }

    private func turn(_ state: inout State) throws(ManagementFailure) -> BusThread.Interest {
        let now = ContinuousClock.now
        if let end = state.batching.pauseEnd, now < end {
            return BusThread.Interest(descriptor: nil, deadline: end)
        }
        var tally = Tally()
        while tally.frames < Self.batch {
            guard try readOne(&state, &tally) else { break }
        }
        // The kernel's count is read only after a full batch or an overflow: otherwise nothing was
        // lost.
        if tally.frames == Self.batch || tally.overflows > 0 {
            let total = Int(clinux_socket_drops(socket.descriptor))
            tally.overflows += max(0, total - state.dropped)
            state.dropped = total
        }
        if tally.overflows > 0 { onNotice(.overflowed(tally.overflows)) }
        if tally.malformed > 0 { onNotice(.malformed(tally.malformed)) }
        if let answerDue = state.answerDue, answerDue <= now { throw .timedOut }
        let hasMore = tally.frames == Self.batch
        state.batching.read(tally.frames, hasMore: hasMore, now: .now)
        // Reading continues after other work has had its turn.
        guard !hasMore else {
            return BusThread.Interest(descriptor: socket.descriptor, deadline: now)
        }
        // A broken, empty socket would be reported as ready for ever.
        if tally.frames == 0, isBroken { throw .lost(0) }
        if let end = state.batching.pauseEnd {
            return BusThread.Interest(descriptor: nil, deadline: end)
        }
        return BusThread.Interest(descriptor: socket.descriptor, deadline: state.answerDue)
    }

    private var isBroken: Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: 0, revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    /// - Returns: `false` when there is nothing to read.
    private func readOne(
        _ state: inout State,
        _ tally: inout Tally
    ) throws(ManagementFailure) -> Bool {
        let event: ManagementEvent
        switch try socket.read(into: &state.buffer) {
        case .empty: return false
        case .overflow:
            tally.overflows += 1
            tally.frames += 1
            return true
        case .oversized: event = .malformed
        case .frame(let count):
            event = ManagementEvent(
                frame: state.buffer.span.extracting(0..<count),
                serviceUUID: serviceUUID
            )
        }
        tally.frames += 1
        if let isPermitted = ManagementSocket.isPermitted(by: event) {
            guard isPermitted else { throw .noCapability }
            if state.answerDue.take() != nil { onNotice(.permitted) }
        }
        switch event {
        case .heard(let report): onReport(report)
        case .malformed: tally.malformed += 1
        // Adapters are followed over D-Bus; a report carries the index of its adapter.
        case .adapterAdded, .adapterRemoved, .answered, .other: break
        }
        return true
    }
}
