import GotchuCore

extension DaemonConfiguration {
    /// Everything that is configured, for a report. There is no secret in it: tokens are in files.
    var lines: [(key: String, value: String)] {
        [
            ("socket", socketPath),
            ("state", stateDirectory),
            ("server", "\(server)"),
            ("token_file", tokenFile ?? "(none)"),
            ("radio", "\(radio)"),
            ("service_uuid", String(serviceUUID, radix: 16)),
            ("eid_seconds", "\(eidLifetime?.components.seconds ?? 0)"),
            ("group", group),
            ("cashier_uids", "\(cashierUserIDs.count) users"),
            ("spender_uids", "\(spenderUserIDs.count) users"),
            ("accept_unknown_rssi", "\(proximity.acceptsUnknownRSSI)"),
            ("tap", "\(proximity.tap.enter) enters, \(proximity.tap.leave) leaves"),
            ("near", "\(proximity.near.enter) enters, \(proximity.near.leave) leaves"),
            ("power_cycle", "\(canPowerCycle)"),
            ("log_level", "\(logLevel)"),
        ]
    }
}
