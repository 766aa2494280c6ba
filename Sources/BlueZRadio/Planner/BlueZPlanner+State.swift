import BlueZ
import GotchuCore
import Radio

/// Queries without side effects.
extension BlueZPlanner {
    /// The state that is sent to the listener.
    var state: RadioState {
        var state = RadioState(adapter: adapter?.name, problem: problem)
        state.address = adapter?.address
        state.bluezVersion = adapter?.version?.description
        state.isScanning = scan.isOn && !ladder.isExhausted && !controller.isUnresponsive
        state.isListeningWanted = scan.isWanted
        state.advertisingCapacity = adapter?.advertisingInstances
        state.advertising = advertising.onAir(isPowered: adapter?.isPowered == true)
        state.recovery = recovery
        return state
    }

    private var problem: RadioFailure? {
        if let failure = link.blockingFailure { return failure }
        if controller.isUnresponsive {
            return RadioFailure(isKernelStuck ? .scanStuck : .adapterUnresponsive)
        }
        if let failure = scan.failure { return failure }
        guard ladder.isExhausted else { return nil }
        return RadioFailure(isKernelStuck ? .scanStuck : .scanSilent)
    }

    /// The only part of `nextDeadline` that a received advertisement can make earlier.
    func hearingDeadline(now: MonotonicTime) -> MonotonicTime? {
        ladder.isClimbing || controller.isUnresponsive ? nil : scan.nextRefresh(now: now)
    }

    /// A Boolean that is true while the kernel's counts of the adapter are meaningful.
    var watchesController: Bool { link.isPowered }

    /// Returns true if the kernel's counts may settle a decision that is due now.
    func isControllerInQuestion(now: MonotonicTime) -> Bool {
        controller.isScanUncertain || scan.isInQuestion(now: now)
    }

    /// A Boolean that is true if the kernel waits for the end of a scan, and only switching the
    /// adapter off ends that wait.
    var isKernelStuck: Bool {
        controller.isUnresponsive
            ? controller.isKernelStuck : ladder.isExhausted && ladder.reason == .unresponsive
    }
}
