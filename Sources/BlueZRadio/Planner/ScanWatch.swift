import GotchuCore

/// Decides whether a silent scan has stopped, or works while nobody is near. The time is a
/// parameter.
///
/// With a filter on our UUID, a room without payers is silent for hours. But a working scan ends
/// every 10.24 s (the kernel's DISCOV_LE_TIMEOUT) and is started again by bluetoothd. This cycle
/// shows only in the commands that the kernel counts (`CommandBurst`), not on D-Bus. It proves that
/// the scan works although nobody is near. A new filter restarts the scan at once and proves the
/// same. Advertisements that are not ours are a sign of life too.
struct ScanWatch: Sendable {
    private let timings: RecoveryTimings
    private var lastLife: MonotonicTime?
    private var lastCycle: MonotonicTime?
    /// The time since which `Discovering` is false although we scan.
    private var endedAt: MonotonicTime?
    /// The time at which a filter of ours was set, which must restart the scan.
    private var sentAt: MonotonicTime?
    /// A Boolean that is true once the scan's cycle was seen: only then is its absence a fault.
    private var knowsCycle = false
    /// The time to restart a scan whose last cycle was not followed by another.
    private var lossDue: MonotonicTime?
    /// The number of losses since a scan last began.
    private var losses = 0
    /// The number of losses that each cause a restart. Any further loss is regarded as permanent.
    private static let lossLimit = 5

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    /// Records that a scan is being started; `Discovering` may change before the reply.
    mutating func starting(now: MonotonicTime) {
        lastCycle = now
        sentAt = nil
        lossDue = nil
    }

    mutating func started(isDiscovering: Bool, now: MonotonicTime) {
        lastLife = now
        lastCycle = now
        endedAt = isDiscovering ? nil : now
        sentAt = nil
        lossDue = nil
    }

    /// Records that another filter is being set.
    mutating func refreshing(now: MonotonicTime) {
        // While an earlier filter is pending, its time is kept.
        sentAt = sentAt ?? now
    }

    /// Records a change of `Discovering`.
    ///
    /// - Returns: True if that is a sign of life.
    mutating func discoveringChanged(to isDiscovering: Bool, now: MonotonicTime) -> Bool {
        guard isDiscovering else {
            endedAt = endedAt ?? now
            return false
        }
        endedAt = nil
        began(now: now)
        return true
    }

    /// Records that the controller was told to scan.
    mutating func began(now: MonotonicTime) {
        let isOurs = sentAt.map { now - $0 <= timings.proofLimit } ?? false
        if !isOurs, let lastCycle, now - lastCycle > timings.proofLimit { knowsCycle = true }
        sentAt = nil
        lossDue = nil
        losses = 0
        lastCycle = now
        lastLife = now
    }

    /// Records a burst of commands that did not start a scan.
    ///
    /// - Parameter lastCommand: The time of its last command. Until the kernel has given up a lost
    ///   command, every start fails, and bluetoothd then waits for 10 s.
    mutating func burstEndedWithoutScan(lastCommand: MonotonicTime) {
        // A burst in the middle of a cycle has another cause. The start of a cycle is detected
        // late, so `age` is less than a cycle, and another program's commands near its end look
        // like a loss. The restart is then harmless, and limited by `lossLimit`.
        let age = timings.scanCycle - timings.pollInterval - timings.fastPollInterval
        guard let lastCycle, lastCommand - lastCycle >= age else { return }
        losses += 1
        lossDue = losses > Self.lossLimit ? nil : lastCommand + timings.commandLimit
    }

    /// Records that the kernel's counts are gone: only silence is checked from now on.
    mutating func forgetCycle() {
        knowsCycle = false
        lossDue = nil
    }

    /// Records that any advertisement was received.
    mutating func heard(now: MonotonicTime) {
        lastLife = now
    }

    /// Records that a guess was wrong: its evidence is ignored until it is seen again.
    mutating func discardSuspicion(_ reason: RecoveryReason, now: MonotonicTime) {
        switch reason {
        case .cycleStopped: knowsCycle = false
        case .startLost: (losses, lossDue) = (Self.lossLimit, nil)
        case .notRestarted, .silent, .ended, .refused, .notAnswering, .stuckAdvertisement,
            .unresponsive:
            break
        }
        sentAt = nil
        lastCycle = now
    }

    /// Returns the time to restart a scan whose last cycle was not followed by another.
    func lossDue(filter: FilterWatch.Effect) -> MonotonicTime? {
        // If another program's wider filter masks ours, bluetoothd begins the next scan 5 s later.
        filter == .masked ? nil : lossDue
    }

    /// Returns true if a reading of the kernel's counts may settle a decision that is due now.
    func needsCounts(now: MonotonicTime) -> Bool {
        sentAt.map { $0 + timings.proofLimit <= now } ?? false
    }

    /// Returns the suspected fault of the scan; `nil` if there is none.
    ///
    /// - Parameter filter: The effect of our filters on the scan.
    func suspicion(filter: FilterWatch.Effect, now: MonotonicTime) -> RecoveryReason? {
        deadlines(filter).filter { $0.value <= now }.min { $0.value < $1.value }?.key
    }

    /// Returns the time at which `suspicion` may change without any event.
    func nextDeadline(filter: FilterWatch.Effect) -> MonotonicTime? {
        deadlines(filter).values.min()
    }

    private func deadlines(_ filter: FilterWatch.Effect) -> [RecoveryReason: MonotonicTime] {
        var deadlines: [RecoveryReason: MonotonicTime] = [:]
        deadlines[.ended] = endedAt.map { $0 + timings.discoveringGrace }
        deadlines[.silent] = lastLife.map {
            $0 + (knowsCycle ? timings.quietLimit : timings.longQuietLimit)
        }
        deadlines[.startLost] = lossDue(filter: filter)
        if filter == .restarts, let sentAt, lastLife.map({ $0 <= sentAt }) ?? true {
            deadlines[.notRestarted] = sentAt + timings.proofLimit
        }
        if knowsCycle { deadlines[.cycleStopped] = lastCycle.map { $0 + timings.cycleLimit } }
        return deadlines
    }
}
