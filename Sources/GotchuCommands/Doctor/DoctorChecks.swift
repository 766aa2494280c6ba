import GotchuAPI

/// All that the doctor looks at, from the ground up.
struct DoctorChecks {
    let invocation: Invocation

    /// - Parameter note: Told what was found, layer by layer.
    func run(_ note: ([Finding]) -> Void) async {
        // What the daemon says decides only whether there is a radio at all.
        let (daemonFindings, status) = await DaemonCheck(invocation: invocation).run()
        let radio = status?.radio
        note(await BluetoothCheck(radioKind: radio?.kind).run())
        let permission = PermissionCheck.current(socketPath: invocation.socketPath)
        note([await ConfigurationCheck().run(), permission.finding])
        note(daemonFindings)
        let probe = await ServerProbe.run(server: status?.server.url)
        note(ServerCheck.findings(status, probe: probe))
        note([ClockCheck.current(lead: probe?.clockLead).finding])
        note(HealthCheck.findings(status))
    }
}
