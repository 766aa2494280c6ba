/// One threshold with hysteresis in level and in time: inside or outside.
struct ZoneGate: Sendable {
    private(set) var isInside = false
    private var samplesAbove = 0
    private var aboveSince: MonotonicTime?
    private var belowSince: MonotonicTime?

    /// Takes a new filtered level.
    mutating func add(
        level: Double,
        at time: MonotonicTime,
        thresholds: ProximityPolicy.Thresholds,
        policy: ProximityPolicy
    ) {
        if level >= thresholds.enter {
            samplesAbove += 1
            aboveSince = aboveSince ?? time
        } else {
            samplesAbove = 0
            aboveSince = nil
        }
        belowSince = level < thresholds.leave ? belowSince ?? time : nil
        advance(to: time, policy: policy)
        if let aboveSince, samplesAbove >= policy.samplesToEnter,
            time - aboveSince >= policy.timeToEnter
        {
            isInside = true
        }
    }

    /// Lets time pass without a sample: being below for long enough leaves; nothing enters.
    mutating func advance(to time: MonotonicTime, policy: ProximityPolicy) {
        if let belowSince, time - belowSince >= policy.timeToLeave { isInside = false }
    }
}
