/// The levels measured at one distance, in dBm.
package struct LevelPercentiles: Codable, Equatable, Sendable {
    /// The number of samples.
    package let count: Int
    /// The 10th percentile: at least 90 % of the samples are at or above it.
    package let p10: Int
    /// The median.
    package let p50: Int
    /// The 90th percentile: at most 10 % of the samples are above it.
    package let p90: Int

    /// The standard deviation in dB of normally distributed samples with these percentiles.
    package var spread: Double { Double(p90 - p10) / 2.563 }

    /// Computes percentiles by the nearest-rank method; `nil` if there are no samples.
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
