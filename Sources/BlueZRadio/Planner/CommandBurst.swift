import BlueZ
import GotchuCore

/// A burst of commands to the controller. It may start a scan. Reads no clock.
///
/// The kernel ends each scan after 10.24 s (its DISCOV_LE_TIMEOUT), and bluetoothd starts the next
/// one at once. The restart shows only in the kernel's counts, as `Discovering` stays true. Counts
/// may be read during a burst, so it is over only at the first reading without new commands.
struct CommandBurst: Sendable {
    enum Finding: Equatable, Sendable {
        /// A scan has started.
        case began
        /// The burst is over, and was too short to start a scan. The value is the time of its last
        /// command.
        case broken(MonotonicTime)
    }

    private var counted = ControllerTraffic(commands: 0, events: 0)
    private var lastCommand: MonotonicTime?
    private var hasBegun = false

    /// The pause before the next reading; `nil` while there are no commands to judge.
    ///
    /// The commands of a scan start follow each other within milliseconds. Later commands are
    /// retries after a lost command. They must not be added to it: three stop commands would look
    /// like one start (≥ 3 commands).
    func pollInterval(_ timings: RecoveryTimings) -> Duration? {
        isOpen ? hasBegun ? timings.fastPollInterval : timings.burstPollInterval : nil
    }

    private var isOpen: Bool { lastCommand != nil }

    /// - Parameter traffic: The counts since the last reading.
    mutating func readCounts(_ traffic: ControllerTraffic, now: MonotonicTime) -> Finding? {
        guard isOpen || traffic.commands > 0 else { return nil }
        // The last answer may be counted after the reading that saw its command.
        counted = counted.adding(traffic)
        let begins = counted.beginsScan
        if begins {
            hasBegun = true
            counted = ControllerTraffic(commands: 0, events: 0)
        }
        guard traffic.commands == 0 else {
            lastCommand = now
            return begins ? .began : nil
        }
        defer { self = CommandBurst() }
        return begins ? .began : hasBegun ? nil : lastCommand.map { .broken($0) }
    }
}
