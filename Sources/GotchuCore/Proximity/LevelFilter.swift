import Glibc

/// The level at which one adapter hears an EID, and the zones that its samples put the EID in.
///
/// The level only ranks EIDs and is shown; the zones do not depend on it. Both are monotone: a
/// higher sample never lowers the level, and never leaves a zone.
struct LevelFilter: Sendable {
    /// The time of the last sample.
    private(set) var lastTime: MonotonicTime?
    /// The exponential average of the samples in dBm; `nil` before the first sample.
    private(set) var level: Double?
    /// The last measurement.
    private(set) var lastRSSI: RSSI?
    private(set) var tap = ZoneGate()
    private(set) var near = ZoneGate()

    var zone: Zone { tap.isInside ? .tap : near.isInside ? .near : .far }

    /// Applies a measurement of an adapter, always the same one.
    mutating func add(
        _ rssi: RSSI,
        at time: MonotonicTime,
        on adapter: String,
        policy: ProximityPolicy
    ) {
        let elapsed = lastTime.map { max(.zero, time - $0).inSeconds } ?? .infinity
        let correlation = exp(-elapsed / policy.correlationTime.inSeconds)
        let weight = policy.weight(on: adapter)
        let sample = (rssi: rssi, correlation: correlation, weight: weight)
        tap.add(sample, thresholds: policy.tap(on: adapter), policy: policy)
        near.add(sample, thresholds: policy.near(on: adapter), policy: policy)
        let previous = level ?? Double(rssi.dBm)
        let share = 1 - exp(-elapsed / policy.averagingTime.inSeconds)
        level = previous + share * (Double(rssi.dBm) - previous)
        lastTime = max(lastTime ?? time, time)
        lastRSSI = rssi
    }
}

/// A distance by level alone.
enum Zone: Int, Comparable, Sendable {
    case far, near, tap

    static func < (left: Zone, right: Zone) -> Bool { left.rawValue < right.rawValue }
}
