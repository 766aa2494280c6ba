import Glibc

/// Filters measurements into a level: the median of the last five, then an exponential average.
///
/// The median drops outliers: the three advertising channels differ, and a hand turns. The average
/// smooths the rest. It stays within `policy.lag` dB of the median and so follows a moving device.
/// The filter is monotone: a higher sample never lowers the level.
struct LevelFilter: Sendable {
    /// The number of samples in the median.
    static let window = 5

    private var samples: [Int] = []
    /// The time of the last sample.
    private(set) var lastTime: MonotonicTime?

    /// The filtered level in dBm; `nil` before the first sample.
    private(set) var level: Double?

    /// The last measurement.
    private(set) var lastRSSI: RSSI?

    mutating func add(_ rssi: RSSI, at time: MonotonicTime, policy: ProximityPolicy) {
        samples.append(rssi.dBm)
        if samples.count > Self.window { samples.removeFirst() }
        lastRSSI = rssi
        let median = Self.median(of: samples)
        let elapsed = max(.zero, time - (lastTime ?? time))
        lastTime = max(lastTime ?? time, time)
        guard let previous = level else { return level = median }
        let weight = 1 - exp(-elapsed.inSeconds / policy.timeConstant.inSeconds)
        let average = previous + weight * (median - previous)
        level = min(median + policy.lag, max(median - policy.lag, average))
    }

    private static func median(of samples: [Int]) -> Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? Double(sorted[middle - 1] + sorted[middle]) / 2 : Double(sorted[middle])
    }
}
