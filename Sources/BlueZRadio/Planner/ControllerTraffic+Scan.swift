import BlueZ

extension ControllerTraffic {
    /// The least number of commands that begin a scan: its address, its parameters, its start (the
    /// kernel's `hci_active_scan_sync`). A start that fails has fewer.
    private static let startCommands: UInt32 = 3

    /// The counts since.
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

    /// A Boolean that is true if a scan may have begun in it.
    var beginsScan: Bool { commands >= Self.startCommands && events >= commands }
}
