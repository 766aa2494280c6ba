import GotchuCore
import Radio

/// Decides when to power an adapter on again after we powered it off. The time is a parameter.
struct PowerPlan: Sendable {
    private(set) var isPowerOnPending = false
    private var retry: Retry
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        retry = Retry(timings: timings)
    }

    /// Resets the retry delay; a pending power-on stays pending.
    mutating func resetRetry() {
        retry = Retry(timings: timings)
    }

    /// Records that a power cycle begins.
    mutating func cycleStarted() { isPowerOnPending = true }

    /// Records that the adapter is on. Any program may have powered it on.
    mutating func poweredOn() { isPowerOnPending = false }

    /// - Parameter isPowered: The adapter's `Powered` property; `nil` if the adapter is gone.
    mutating func cycleFinished(_ result: Result<Void, RadioFailure>, isPowered: Bool?) {
        switch result {
        case .success: isPowerOnPending = false
        // The request may still take effect.
        case .failure(let failure) where failure.code == .timedOut: isPowerOnPending = true
        // If it is still on, we did not power it off. If it goes off later, another program wants
        // that.
        case .failure: isPowerOnPending = isPowered == false
        }
    }

    mutating func powerOnFailed(now: MonotonicTime) { retry.failed(now: now) }

    /// Returns the action for an adapter that is off.
    func next(now: MonotonicTime) -> BlueZPlanner.Action? {
        isPowerOnPending && retry.isDue(now: now) ? .powerOn : nil
    }

    /// The time at which `next` must be called again if no event comes first.
    var nextDeadline: MonotonicTime? { isPowerOnPending ? retry.due : nil }
}
