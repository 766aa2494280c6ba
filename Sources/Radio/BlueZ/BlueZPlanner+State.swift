import BlueZ
import GotchuCore

/// What the world is told of it.
extension BlueZPlanner {
    var state: RadioState {
        var state = RadioState(adapter: adapter?.name, problem: problem)
        state.address = adapter?.address
        state.bluezVersion = adapter?.version?.description
        let isScanLost = ladder.isExhausted || controller.isMute
        state.isScanning = scan == .on && !isScanLost || isMonitorAlone
        state.isListeningWanted = isScanWanted
        if isMonitorAlone { state.transport = .monitor }
        state.hasMonitor = hasMonitor
        state.advertisingCapacity = adapter?.advertisingInstances
        state.advertising = Set(advertisements.filter { isOnAir($0.value) }.keys)
        state.recovery = recovery
        return state
    }

    private var problem: RadioFailure? {
        if let hopeless { return hopeless }
        if controller.isMute { return RadioFailure(isKernelStuck ? .scanStuck : .adapterMute) }
        if isMonitorAlone { return nil }
        if let scanFailure { return scanFailure }
        guard ladder.isExhausted else { return nil }
        return RadioFailure(isKernelStuck ? .scanStuck : .scanSilent)
    }

    /// Why nothing at all can be done now, or `nil`.
    var hopeless: RadioFailure? {
        switch link {
        case .connecting: nil
        case .asking: isNotAnswering ? RadioFailure(.timedOut) : nil
        case .noBus(let underlying): RadioFailure(.noBus, underlying: underlying)
        case .noBlueZ: RadioFailure(.noBlueZ)
        case .up:
            if let adapter {
                adapter.isPowered ? nil : RadioFailure(.adapterOff)
            } else {
                RadioFailure(.noAdapter)
            }
        }
    }

    private func isOnAir(_ advertisement: PlannedAdvertisement) -> Bool {
        switch advertisement.stage {
        case .off, .registering: false
        case .on, .unregistering: true
        // One that could not be taken off.
        case .unclear: !advertisement.isWanted && adapter?.isPowered == true
        }
    }
}
