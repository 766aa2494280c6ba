import GotchuCore
import Radio

/// The duty to switch an adapter on again that we have switched off: pure.
struct PowerPlan: Sendable {
    private(set) var isOwed = false
    private var retry: Retry
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        retry = Retry(timings: timings)
    }

    /// Everything begins anew, and the duty stays.
    mutating func startAfresh() {
        retry = Retry(timings: timings)
    }

    /// The adapter is about to be switched off and on.
    mutating func cycling() { isOwed = true }

    /// The adapter is on, by us or another program.
    mutating func isOn() { isOwed = false }

    /// - Parameter isPowered: The adapter's word; `nil` if it is not there.
    mutating func cycled(_ result: Result<Void, RadioFailure>, isPowered: Bool?) {
        switch result {
        case .success: isOwed = false
        // It may still go off.
        case .failure(let failure) where failure.code == .timedOut: isOwed = true
        // It was never off: a program that switches it off later means it.
        case .failure: isOwed = isPowered == false
        }
    }

    mutating func powerOnFailed(now: MonotonicTime) { retry.failed(now: now) }

    /// The next thing to do about an adapter that is off.
    func next(now: MonotonicTime) -> BlueZPlanner.Action? {
        isOwed && retry.isDue(now: now) ? .powerOn : nil
    }

    /// The time at which `next` may have something to do although nothing happened.
    var wake: MonotonicTime? { isOwed ? retry.due : nil }
}
