/// One advertisement that is or was wanted, and how far it has come.
struct PlannedAdvertisement: Sendable {
    var isWanted = true
    var stage = Stage.off
    /// Someone waits for it to be on the air for the first time; a failure ends it.
    var isNew = true
    var retry: Retry

    enum Stage: Equatable, Sendable {
        /// bluetoothd does not have it.
        case off
        /// bluetoothd may have it: from before the adapter went off, or because it did not answer.
        case unclear
        /// On its way there; what is stopped now is taken off when it is through.
        ///
        /// - Parameter isAgain: bluetoothd may have an earlier one.
        case registering(isAgain: Bool)
        case on
        case unregistering
    }

    /// Whether something has to be done that makes it what it should be.
    var needsAction: Bool {
        switch stage {
        case .off: isWanted
        case .unclear: true
        case .on: !isWanted
        case .registering, .unregistering: false
        }
    }
}
