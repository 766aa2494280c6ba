import GotchuCore

extension BlueZPlanner {
    /// A single operation on bluetoothd or on the connection to it.
    enum Action: Equatable, Sendable {
        /// Sets the filter and starts discovery; `isRestart` if a scan may already be running.
        case startScan(isRestart: Bool)
        /// Stops discovery, which is not needed now.
        case stopScan
        /// Sets another filter: the scan restarts and delivers fresh samples.
        case refreshScan
        case register(EID)
        case unregister(EID)
        /// Closes the connection to the bus; another is opened.
        case reconnect
        /// Switches the adapter off and on.
        case powerCycle
        /// Switches on the adapter, which we had switched off.
        case powerOn
    }

    /// The effect of a received advertisement.
    enum ReceptionEffect {
        /// Nothing is due sooner.
        case nothing
        /// `hearingDeadline` may be earlier now.
        case earlierDeadline
        /// The scan is proved to run.
        case scanProved
    }
}

extension BlueZPlanner.Action {
    var isAdvertising: Bool {
        switch self {
        case .register, .unregister: true
        case .startScan, .stopScan, .refreshScan, .reconnect, .powerCycle, .powerOn: false
        }
    }
}
