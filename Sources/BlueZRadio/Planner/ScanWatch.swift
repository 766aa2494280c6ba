import GotchuCore

/// The judgement whether a scan has stopped, or merely nobody is near: pure.
///
/// With a filter on our UUID a room without payers is silent for hours. But a scan that lives ends
/// itself every 10.24 s (the kernel's DISCOV_LE_TIMEOUT) and is started again by bluetoothd, which
/// shows in the commands that the kernel counts (`CommandBurst`), and nowhere on D-Bus: that cycle
/// shows that the scan works although nobody is near. A filter that we set does the same at once.
/// Strangers that are heard count as life too.
struct ScanWatch: Sendable {
    private let timings: RecoveryTimings
    private var lastLife: MonotonicTime?
    private var lastCycle: MonotonicTime?
    /// The time since which `Discovering` is false although we scan.
    private var endedAt: MonotonicTime?
    /// The time at which a filter of ours was set, which must restart the scan.
    private var askedAt: MonotonicTime?
    /// The scan's own cycle has been seen, so that its absence means something.
    private var knowsCycle = false
    /// The time to restart a scan whose last cycle was not followed by another.
    private var lossDue: MonotonicTime?
    /// Losses since a scan last began.
    private var losses = 0
    /// The number of losses after which a scan is restarted; one more is taken as permanent.
    private static let lossLimit = 5

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    /// A scan is being started, which `Discovering` may show before the answer.
    mutating func starting(now: MonotonicTime) {
        lastCycle = now
        askedAt = nil
        lossDue = nil
    }

    /// A scan was started.
    mutating func started(isDiscovering: Bool, now: MonotonicTime) {
        lastLife = now
        lastCycle = now
        endedAt = isDiscovering ? nil : now
        askedAt = nil
        lossDue = nil
    }

    /// Another filter is being set.
    mutating func refreshing(now: MonotonicTime) {
        // While an earlier one waits, the first of them counts.
        askedAt = askedAt ?? now
    }

    /// `Discovering` has changed.
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

    /// The controller was told to scan.
    mutating func began(now: MonotonicTime) {
        let isOurs = askedAt.map { now - $0 <= timings.proofLimit } ?? false
        if !isOurs, let lastCycle, now - lastCycle > timings.proofLimit { knowsCycle = true }
        askedAt = nil
        lossDue = nil
        losses = 0
        lastCycle = now
        lastLife = now
    }

    /// Records a burst of commands that did not start a scan.
    ///
    /// - Parameter lastCommand: The time of its last command. Until the kernel has given up one
    ///   that was lost, every start fails, and bluetoothd then waits for 10 s.
    mutating func broken(lastCommand: MonotonicTime) {
        // In the middle of a cycle it was about something else. A cycle's start is known late, so
        // that another program's commands near its end look like a loss. The restart is harmless,
        // and limited by `lossLimit`.
        let age = timings.scanCycle - timings.look - timings.closeLook
        guard let lastCycle, lastCommand - lastCycle >= age else { return }
        losses += 1
        lossDue = losses > Self.lossLimit ? nil : lastCommand + timings.commandLimit
    }

    /// Records that the kernel's counts are gone: only silence is judged from now on.
    mutating func forgetCycle() {
        knowsCycle = false
        lossDue = nil
    }

    /// Anything was heard.
    mutating func heard(now: MonotonicTime) {
        lastLife = now
    }

    /// Records that a guess was wrong: its evidence is ignored until it is seen again.
    mutating func unlearn(_ reason: RecoveryReason, now: MonotonicTime) {
        switch reason {
        case .cycleStopped: knowsCycle = false
        case .startLost: (losses, lossDue) = (Self.lossLimit, nil)
        case .notRestarted, .silent, .ended, .refused, .notAnswering, .stuckAdvertisement,
            .unresponsive:
            break
        }
        askedAt = nil
        lastCycle = now
    }

    /// The time to restart a scan whose last cycle was not followed by another.
    func lossDue(filter: FilterWatch.Effect) -> MonotonicTime? {
        // Beside another program's wider filter bluetoothd begins the next scan 5 s later.
        filter == .masked ? nil : lossDue
    }

    /// Tells whether a look at the kernel's counts may answer what is to be judged now.
    func needsCounts(now: MonotonicTime) -> Bool {
        askedAt.map { $0 + timings.proofLimit <= now } ?? false
    }

    /// Names what is wrong with the scan now, if anything.
    ///
    /// - Parameter filter: The effect that our filters have on the scan.
    func suspicion(filter: FilterWatch.Effect, now: MonotonicTime) -> RecoveryReason? {
        deadlines(filter).filter { $0.value <= now }.min { $0.value < $1.value }?.key
    }

    /// The time at which `suspicion` may change although nothing happens.
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
        if filter == .restarts, let askedAt, lastLife.map({ $0 <= askedAt }) ?? true {
            deadlines[.notRestarted] = askedAt + timings.proofLimit
        }
        if knowsCycle { deadlines[.cycleStopped] = lastCycle.map { $0 + timings.cycleLimit } }
        return deadlines
    }
}
