import BlueZ

extension ControllerTraffic {
    /// The minimum number of commands in a scan start: set address, set parameters, enable (the
    /// kernel's `hci_active_scan_sync`). A failed start sends fewer.
    private static let startCommands: UInt32 = 3

    /// Returns the difference from earlier counts, also if a counter has wrapped.
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

    /// A Boolean that is true if these counts are high enough to include a scan start.
    var beginsScan: Bool { commands >= Self.startCommands && events >= commands }
}
