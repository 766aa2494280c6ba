import BlueZ
import CLinux
import DBus
import Glibc
import GotchuCore
import Synchronization

/// Reads the management socket on the radio's thread.
///
/// Each report is judged where it is read: a stranger's, which most are, costs a system call and
/// some comparisons, and never a switch to another thread.
final class ManagementListener: BusThread.Pump {
    /// An event beside the reports.
    enum Notice: Equatable, Sendable {
        /// The kernel lets us listen.
        case permitted
        /// The kernel has lost this number of frames since the last notice.
        case overflowed(Int)
        /// This number of frames was not as the protocol says.
        case malformed(Int)
        /// Nothing is read any more.
        case ended(ManagementFailure)
    }

    /// Frames read in one go before other things are looked at.
    private static let batch = 256
    /// The time that the kernel may take to say whether we may listen.
    private static let answerLimit: Duration = .seconds(2)

    private let socket: ManagementSocket
    private let serviceUUID: UUID16
    private let onReport: @Sendable (ManagementReport) -> Void
    private let onNotice: @Sendable (Notice) -> Void
    private let thread: BusThread
    private let state = Mutex(State())

    private struct State {
        var buffer: [UInt8] = []
        /// The frames that the kernel had dropped when it was last asked.
        var dropped = 0
        /// The time by which the kernel must have answered, until it has.
        var answerDue: ContinuousClock.Instant?
        var pace = ReadingPace()
        /// The time until which reports gather unread.
        var gatherEnd: ContinuousClock.Instant?
        /// The frames read, in one turn or several, since the pace was last told.
        var readCount = 0
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
    ///   - onNotice: Receives everything else; `ended` comes once and last, and not after `stop()`.
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

    /// Begins to listen, for as long as somebody holds the listener.
    func start() throws(ManagementFailure) {
        try socket.ask()
        state.withLock { state in
            state.buffer = [UInt8](repeating: 0, count: ManagementEvent.frameLimit)
            state.dropped = Int(clinux_socket_drops(socket.descriptor))
            state.answerDue = .now + Self.answerLimit
            state.hasEnded = false
        }
        thread.watch(self)
    }

    /// Ends it; nothing is received any more, but for what is being received at this moment.
    func stop() {
        state.withLock { $0.hasEnded = true }
        thread.forget(self)
    }

    /// Ends it because of something that shows elsewhere.
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
        if let end = state.gatherEnd, now < end {
            return BusThread.Interest(descriptor: nil, deadline: end)
        }
        state.gatherEnd = nil
        var tally = Tally()
        while tally.frames < Self.batch {
            guard try readOne(&state, &tally) else { break }
        }
        // Looked at only when there was more than a little to read: else nothing was lost.
        if tally.frames == Self.batch || tally.overflows > 0 {
            let total = Int(clinux_socket_drops(socket.descriptor))
            tally.overflows += max(0, total - state.dropped)
            state.dropped = total
        }
        if tally.overflows > 0 { onNotice(.overflowed(tally.overflows)) }
        if tally.malformed > 0 { onNotice(.malformed(tally.malformed)) }
        if let answerDue = state.answerDue, answerDue <= now { throw .timedOut }
        state.readCount += tally.frames
        // More may wait: other things have their turn, and then it goes on.
        guard tally.frames < Self.batch else {
            return BusThread.Interest(descriptor: socket.descriptor, deadline: now)
        }
        // Broken and empty: it would be ready for ever.
        if tally.frames == 0, isBroken { throw .lost(0) }
        let count = state.readCount
        state.readCount = 0
        if count > 0, let pause = state.pace.read(count, now: .now) {
            state.gatherEnd = .now + pause
            return BusThread.Interest(descriptor: nil, deadline: state.gatherEnd)
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
        // bluetoothd tells of adapters, and numbers say which one a report is from.
        case .adapterAdded, .adapterRemoved, .answered, .other: break
        }
        return true
    }
}
