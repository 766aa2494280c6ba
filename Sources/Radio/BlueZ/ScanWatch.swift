import GotchuCore

/// Tells a scan that has died from an empty room: pure.
///
/// With a filter on our UUID a room without payers is silent for hours. But a scan that lives ends
/// itself every 10.24 s (the kernel's DISCOV_LE_TIMEOUT) and is started again by bluetoothd, which
/// shows as `Discovering` going false and true: that cycle is a pulse which needs nobody in the
/// room. A filter that we set does the same at once. Strangers that are heard count as life too.
struct ScanWatch: Sendable {
    private let timings: RecoveryTimings
    private var lastLife: MonotonicTime?
    private var lastCycle: MonotonicTime?
    /// Since when `Discovering` is false although we scan.
    private var endedAt: MonotonicTime?
    /// Since when something of ours must restart the scan.
    private var askedAt: MonotonicTime?
    /// The scan's own cycle has been seen, so that its absence means something.
    private var knowsCycle = false
    /// A filter that was set has restarted the scan. Beside another program's wider filter it does
    /// not.
    private var isAnswered = false

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    /// A scan is being started, which `Discovering` may show before the answer.
    mutating func starting(now: MonotonicTime) {
        lastCycle = now
        askedAt = nil
    }

    /// A scan was started.
    mutating func started(isDiscovering: Bool, now: MonotonicTime) {
        lastLife = now
        lastCycle = now
        endedAt = isDiscovering ? nil : now
        askedAt = nil
    }

    /// Another filter is being set.
    mutating func refreshing(now: MonotonicTime) {
        // While an earlier one waits, the first of them counts.
        askedAt = askedAt ?? now
    }

    /// `Discovering` has changed.
    ///
    /// - Returns: whether that is a sign of life.
    mutating func discoveringChanged(to isDiscovering: Bool, now: MonotonicTime) -> Bool {
        guard isDiscovering else {
            endedAt = endedAt ?? now
            return false
        }
        endedAt = nil
        if let askedAt, now - askedAt <= timings.proofLimit {
            isAnswered = true
        } else if let lastCycle, now - lastCycle > timings.proofLimit {
            knowsCycle = true
        }
        askedAt = nil
        lastCycle = now
        lastLife = now
        return true
    }

    /// Anything was heard.
    mutating func heard(now: MonotonicTime) {
        lastLife = now
    }

    /// A guess was wrong: its evidence is not believed any more until it is seen again.
    mutating func unlearn(_ reason: RecoveryReason, now: MonotonicTime) {
        switch reason {
        case .notRestarted: isAnswered = false
        case .cycleStopped: knowsCycle = false
        case .silent, .ended, .refused, .notAnswering, .stuckAdvertisement, .mute: break
        }
        askedAt = nil
        lastCycle = now
    }

    /// What is wrong with the scan now, if anything.
    func suspicion(now: MonotonicTime) -> RecoveryReason? {
        deadlines.filter { $0.value <= now }.min { $0.value < $1.value }?.key
    }

    /// When `suspicion` may change although nothing happens.
    var nextDeadline: MonotonicTime? { deadlines.values.min() }

    private var deadlines: [RecoveryReason: MonotonicTime] {
        var deadlines: [RecoveryReason: MonotonicTime] = [:]
        deadlines[.ended] = endedAt.map { $0 + timings.discoveringGrace }
        deadlines[.silent] = lastLife.map {
            $0 + (knowsCycle ? timings.quietLimit : timings.longQuietLimit)
        }
        if isAnswered, let askedAt, lastLife.map({ $0 <= askedAt }) ?? true {
            deadlines[.notRestarted] = askedAt + timings.proofLimit
        }
        if knowsCycle { deadlines[.cycleStopped] = lastCycle.map { $0 + timings.cycleLimit } }
        return deadlines
    }
}
