/// A threshold with hysteresis in level and time.
struct ZoneGate: Sendable {
    private(set) var isInside = false
    /// The sum in dB by which consecutive samples exceeded the threshold.
    private var evidence = 0.0
    private var hasSingleSample = true
    private var aboveSince: MonotonicTime?
    private var belowSince: MonotonicTime?

    /// Applies a new filtered level.
    mutating func add(
        level: Double,
        at time: MonotonicTime,
        thresholds: ProximityPolicy.Thresholds,
        policy: ProximityPolicy
    ) {
        if level >= thresholds.enter {
            evidence += max(policy.minimumEvidence, level - thresholds.enter)
            hasSingleSample = aboveSince == nil
            aboveSince = aboveSince ?? time
        } else {
            evidence = 0
            aboveSince = nil
        }
        belowSince = level < thresholds.leave ? belowSince ?? time : nil
        advance(to: time, policy: policy)
    }

    /// Advances the time. Enters if the level was above the threshold for long enough and with
    /// enough evidence. Leaves if it was below the threshold for long enough.
    mutating func advance(to time: MonotonicTime, policy: ProximityPolicy) {
        if let belowSince, time - belowSince >= policy.timeToLeave { isInside = false }
        guard let aboveSince, evidence >= policy.evidenceToEnter else { return }
        let needed = hasSingleSample ? policy.timeForSingleSample : policy.timeToEnter
        if time - aboveSince >= needed { isInside = true }
    }
}
