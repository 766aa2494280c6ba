import BlueZ
import CLinux
import Glibc
import GotchuCore

/// Reads the management socket on a thread of its own.
///
/// Each report is judged where it is read: a stranger's, which most are, costs a system call and
/// some comparisons, and never a switch to another thread.
final class ManagementListener: Sendable {
    /// What is told beside the reports.
    enum Notice: Equatable, Sendable {
        /// The kernel lets us listen.
        case permitted
        /// The kernel has lost so many frames since the last notice.
        case overflowed(Int)
        /// So many frames were not as the protocol says.
        case malformed(Int)
        /// Nothing is read any more.
        case ended(ManagementFailure)
    }

    /// Frames read in one go before other things are looked at.
    private static let batch = 256
    /// How long the kernel may take to say whether we may listen.
    private static let answerLimit: Duration = .seconds(2)

    private let socket: ManagementSocket
    private let serviceUUID: UUID16
    private let ear: ManagementEar
    private let notify: @Sendable (Notice) -> Void
    /// Written to end the thread.
    private let alarm: Int32

    /// - Parameters:
    ///   - ear: told every report, on the listener's thread.
    ///   - notify: told everything else, on the same thread; `ended` comes once and last, and not
    ///     after `stop()`.
    init(
        _ socket: consuming ManagementSocket,
        serviceUUID: UUID16,
        ear: ManagementEar,
        notify: @escaping @Sendable (Notice) -> Void
    ) {
        self.socket = socket
        self.serviceUUID = serviceUUID
        self.ear = ear
        self.notify = notify
        alarm = clinux_eventfd()
    }

    deinit {
        // The thread holds a reference for as long as it runs, so none does now.
        if alarm >= 0 { close(alarm) }
    }

    /// Starts the thread.
    func start() throws(ManagementFailure) {
        guard alarm >= 0 else { throw .noSocket(EMFILE) }
        let this = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ManagementListener>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            this.toOpaque()
        )
        guard status == 0 else {
            this.release()
            throw .noSocket(status)
        }
        pthread_detach(thread)
    }

    /// Ends the thread soon.
    func stop() {
        var one: UInt64 = 1
        _ = write(alarm, &one, MemoryLayout.size(ofValue: one))
    }

    // MARK: The thread

    private func run() {
        // Signals are the main program's business.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        clinux_name_this_thread("management")
        do throws(ManagementFailure) {
            try listen()
        } catch {
            notify(.ended(error))
        }
    }

    /// Returns when it was stopped.
    private func listen() throws(ManagementFailure) {
        var buffer = [UInt8](repeating: 0, count: ManagementEvent.frameLimit)
        var dropped = Int(clinux_socket_drops(socket.descriptor))
        var answerDue: ContinuousClock.Instant? = .now + Self.answerLimit
        var pace = ReadingPace()
        var gatherEnd: ContinuousClock.Instant?
        try socket.ask()
        while true {
            if let end = gatherEnd.take(), wait(until: end, forReports: false) == nil { return }
            guard let isBroken = wait(until: answerDue, forReports: true) else { return }
            var tally = Tally()
            while tally.frames < Self.batch {
                guard try readOne(&buffer, &tally, &answerDue) else { break }
            }
            // Looked at only when there was more than a little to read: else nothing was lost.
            if tally.frames == Self.batch || tally.overflows > 0 {
                let total = Int(clinux_socket_drops(socket.descriptor))
                tally.overflows += max(0, total - dropped)
                dropped = total
            }
            if tally.overflows > 0 { notify(.overflowed(tally.overflows)) }
            if tally.malformed > 0 { notify(.malformed(tally.malformed)) }
            // Broken and empty: it would be ready for ever.
            if isBroken, tally.frames == 0 { throw .lost(0) }
            if tally.frames < Self.batch {
                gatherEnd = pace.read(tally.frames, now: .now).map { .now + $0 }
            }
            if let answerDue, answerDue <= .now { throw .timedOut }
        }
    }

    private struct Tally {
        var frames = 0
        var malformed = 0
        var overflows = 0
    }

    /// - Returns: `false` when there is nothing to read.
    private func readOne(
        _ buffer: inout [UInt8],
        _ tally: inout Tally,
        _ answerDue: inout ContinuousClock.Instant?
    ) throws(ManagementFailure) -> Bool {
        let event: ManagementEvent
        switch try socket.read(into: &buffer) {
        case .empty: return false
        case .overflow:
            tally.overflows += 1
            tally.frames += 1
            return true
        case .oversized: event = .malformed
        case .frame(let count):
            event = ManagementEvent(
                frame: buffer.span.extracting(0..<count),
                serviceUUID: serviceUUID
            )
        }
        tally.frames += 1
        if let isPermitted = ManagementSocket.isPermitted(by: event) {
            guard isPermitted else { throw .noCapability }
            if answerDue.take() != nil { notify(.permitted) }
        }
        switch event {
        case .heard(let report): ear.hear(report, at: .now)
        case .malformed: tally.malformed += 1
        // bluetoothd tells of adapters, and numbers say which one a report is from.
        case .adapterAdded, .adapterRemoved, .answered, .other: break
        }
        return true
    }

    /// - Returns: `nil` when it was stopped, else whether the socket is broken.
    private func wait(until deadline: ContinuousClock.Instant?, forReports: Bool) -> Bool? {
        var descriptors = [
            pollfd(fd: alarm, events: Int16(POLLIN), revents: 0),
            // poll(2) passes over what is negative.
            pollfd(fd: forReports ? socket.descriptor : -1, events: Int16(POLLIN), revents: 0),
        ]
        let limit = deadline.map {
            max(0, Int32(ContinuousClock.now.duration(to: $0) / .milliseconds(1)) + 1)
        }
        poll(&descriptors, nfds_t(descriptors.count), limit ?? -1)
        guard descriptors[0].revents == 0 else { return nil }
        return Int32(descriptors[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
    }
}
