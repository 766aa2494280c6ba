import BlueZ
import GotchuCore

/// Commands to the controller that come together, and whether a scan began by them: pure.
///
/// The kernel ends each scan after 10.24 s (its DISCOV_LE_TIMEOUT) and bluetoothd has the next one
/// begun at once. `Discovering` stays true meanwhile; only the kernel's counts show it. A look may
/// come in the middle, so that a burst is over when a look finds no more commands.
struct CommandBurst: Sendable {
    enum Finding: Equatable, Sendable {
        /// A scan has begun.
        case began
        /// The commands are over, and were too few to begin one; when the last of them was seen.
        case broken(MonotonicTime)
    }

    private var counted = ControllerTraffic(commands: 0, events: 0)
    private var lastCommand: MonotonicTime?
    private var hasBegun = false

    /// The pause before the next look; `nil` while there are no commands to judge.
    ///
    /// A start follows within milliseconds. What follows later is the next try after a lost
    /// command, and must not be counted with it: three times the end of a scan is no start.
    func lookInterval(_ timings: RecoveryTimings) -> Duration? {
        isOpen ? hasBegun ? timings.closeLook : timings.burstLook : nil
    }

    private var isOpen: Bool { lastCommand != nil }

    /// - Parameter traffic: The counts since the last look.
    mutating func looked(_ traffic: ControllerTraffic, now: MonotonicTime) -> Finding? {
        guard isOpen || traffic.commands > 0 else { return nil }
        // The last answer may come after the look that saw its command.
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
