import GotchuCore

extension BlueZPlanner {
    /// One thing to do, the smallest that bluetoothd knows.
    enum Action: Equatable, Sendable {
        /// Set the filter and start discovery; `isRestart` if it may run already in some state.
        case startScan(isRestart: Bool)
        /// Stop discovery, which nobody needs now.
        case stopScan
        /// Set another filter, which restarts the scan and so gives fresh samples.
        case refreshScan
        case register(EID)
        case unregister(EID)
        /// End the connection to the bus; another is opened.
        case reconnect
        /// Switch the adapter off and on.
        case powerCycle
        /// Switch the adapter on, which we had switched off.
        case powerOn
    }

    /// The effect of hearing something.
    enum Hearing {
        /// Nothing is due sooner.
        case nothing
        /// `hearingDeadline` may have come nearer.
        case hurry
        /// The scan is proved to live.
        case proof
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
