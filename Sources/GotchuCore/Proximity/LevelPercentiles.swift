/// The levels measured at one distance, in dBm.
package struct LevelPercentiles: Codable, Equatable, Sendable {
    /// The number of samples.
    package let count: Int
    /// The level that nine of ten samples reach.
    package let p10: Int
    /// The median.
    package let p50: Int
    /// The level that one of ten samples exceeds.
    package let p90: Int

    /// Computes percentiles by the nearest rank; `nil` without a sample.
    package init?(_ samples: [RSSI]) {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.map(\.dBm).sorted()
        func rank(_ percent: Int) -> Int {
            sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
        }
        count = sorted.count
        p10 = rank(10)
        p50 = rank(50)
        p90 = rank(90)
    }
}
