import BlueZ
import GotchuCore

/// A burst of commands to the controller. It may start a scan. The time is a parameter.
///
/// The kernel ends each scan after 10.24 s (its DISCOV_LE_TIMEOUT), and bluetoothd starts the next
/// one at once. The restart shows only in the kernel's counts, as `Discovering` stays true. Counts
/// may be read during a burst, so it is over only at the first reading without new commands.
struct CommandBurst: Sendable {
    enum Finding: Equatable, Sendable {
        case scanStarted
        /// The burst is over and started no scan: it had too few commands, or one was not answered.
        /// The value is the time of the last reading with new commands.
        case endedWithoutScan(MonotonicTime)
    }

    private var countedTraffic = ControllerTraffic(commands: 0, events: 0)
    private var lastCommand: MonotonicTime?
    private var hasStartedScan = false

    /// The pause before the next reading; `nil` while there are no commands to judge.
    ///
    /// It is short until a scan has started. The commands of a start follow each other within
    /// milliseconds. Commands after a pause are retries of a lost command and belong to another
    /// burst: if counted together, a stop command sent three times would look like a scan start.
    func pollInterval(_ timings: RecoveryTimings) -> Duration? {
        isActive ? hasStartedScan ? timings.fastPollInterval : timings.burstPollInterval : nil
    }

    private var isActive: Bool { lastCommand != nil }

    /// - Parameter traffic: The counts since the last reading.
    mutating func readCounts(_ traffic: ControllerTraffic, now: MonotonicTime) -> Finding? {
        guard isActive || traffic.commands > 0 else { return nil }
        // The last answer may be counted after the reading that saw its command.
        countedTraffic = countedTraffic.adding(traffic)
        let begins = countedTraffic.beginsScan
        if begins {
            hasStartedScan = true
            countedTraffic = ControllerTraffic(commands: 0, events: 0)
        }
        guard traffic.commands == 0 else {
            lastCommand = now
            return begins ? .scanStarted : nil
        }
        defer { self = CommandBurst() }
        if begins { return .scanStarted }
        return hasStartedScan ? nil : lastCommand.map { .endedWithoutScan($0) }
    }
}
