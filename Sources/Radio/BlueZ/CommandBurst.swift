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

    /// Whether it is not known yet what comes of it.
    var isOpen: Bool { lastCommand != nil }

    /// - Parameter traffic: what was counted since the last look.
    mutating func looked(_ traffic: ControllerTraffic, now: MonotonicTime) -> Finding? {
        guard traffic.commands > 0 else {
            defer { self = CommandBurst() }
            return hasBegun ? nil : lastCommand.map { .broken($0) }
        }
        lastCommand = now
        let sum = counted.adding(traffic)
        guard sum.beginsScan else {
            counted = sum
            return nil
        }
        hasBegun = true
        counted = ControllerTraffic(commands: 0, events: 0)
        return .began
    }
}

extension ControllerTraffic {
    /// A scan is begun with so many commands at least: its address, its parameters, its start (the
    /// kernel's `hci_active_scan_sync`). One that fails is fewer.
    private static let startCommands: UInt32 = 3

    /// What was counted since.
    func since(_ before: ControllerTraffic) -> ControllerTraffic {
        ControllerTraffic(
            commands: commands &- before.commands,
            events: events &- before.events
        )
    }

    func adding(_ more: ControllerTraffic) -> ControllerTraffic {
        ControllerTraffic(
            commands: commands &+ more.commands,
            events: events &+ more.events
        )
    }

    /// Whether a scan may have begun in it.
    var beginsScan: Bool { commands >= Self.startCommands && events >= commands }
}
