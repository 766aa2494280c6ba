import GotchuAPI

/// All checks of the doctor, in the order of the layers.
struct DoctorChecks {
    let invocation: Invocation

    /// - Parameter note: Called with the findings of each layer.
    func run(_ note: ([Finding]) -> Void) async {
        // The daemon is asked first: a simulated radio needs no Bluetooth check.
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
