/// The levels that one adapter measured at tap distance and at one metre, and the thresholds
/// computed from them.
package struct Calibration: Codable, Equatable, Sendable {
    /// The levels at tap distance: the device is held against the till, as a customer holds it.
    package let tap: LevelPercentiles
    /// The levels at a distance of one metre.
    package let metre: LevelPercentiles

    /// The minimum number of samples at each distance; with fewer, the percentiles are unreliable.
    package static let minimumSamples = 30
    /// The minimum difference in dB between the 10th percentile at tap distance and the 90th
    /// percentile at one metre. If the levels overlap, no threshold can separate them.
    static let minimumGap = 8

    /// The maximum width of the dead band for tap, and the width of that for near, in dB. The tap
    /// band is narrower if it would reach the levels at one metre.
    private static let widestTapBand = 6.0
    private static let nearBand = 6.0

    /// The reason why measurements give no thresholds.
    package enum Refusal: Error, Equatable, Sendable {
        case tooFewSamples(place: Place, count: Int)
        /// The levels overlap. `tap` is the 10th percentile at tap distance, `metre` the 90th at
        /// one metre, in dBm.
        case overlap(tap: Int, metre: Int)
    }

    package enum Place: String, Sendable {
        case tap, metre
    }

    /// - Parameters:
    ///   - tap: Levels at tap distance.
    ///   - metre: Levels at one metre.
    package init(tap: [RSSI], metre: [RSSI]) throws(Refusal) {
        for (place, samples) in [(Place.tap, tap), (.metre, metre)] {
            guard samples.count >= Self.minimumSamples else {
                throw .tooFewSamples(place: place, count: samples.count)
            }
        }
        guard let tap = LevelPercentiles(tap), let metre = LevelPercentiles(metre) else {
            preconditionFailure("there are samples")
        }
        guard tap.p10 - metre.p90 >= Self.minimumGap else {
            throw .overlap(tap: tap.p10, metre: metre.p90)
        }
        self.tap = tap
        self.metre = metre
    }

    /// The tap thresholds. `enter` is the 10th percentile at tap distance minus a quarter of the
    /// gap. `leave` is above the 90th percentile at one metre, so stepping back ends a tap.
    package var tapThresholds: ProximityPolicy.Thresholds {
        let gap = Double(tap.p10 - metre.p90)
        let enter = Double(tap.p10) - gap / 4
        return .init(enter: enter, leave: max(enter - Self.widestTapBand, Double(metre.p90) + 1))
    }

    /// The near thresholds. `enter` is 1 dB below the 10th percentile at one metre.
    package var nearThresholds: ProximityPolicy.Thresholds {
        let enter = Double(metre.p10) - 1
        return .init(enter: enter, leave: enter - Self.nearBand)
    }

    /// The evidence in nats of one dB in one sample: the difference between held and not held over
    /// the variance of the samples at the distance where they spread more. A device at rest shows
    /// less noise than customers make, so a small spread does not raise the weight.
    package var weight: Double {
        let spread = max(tap.spread, metre.spread)
        return min(ProximityPolicy.weight, ProximityPolicy.separation / (spread * spread))
    }

    /// A Boolean that is true if the values are plausible. Values from a file must be checked.
    package var isPlausible: Bool {
        [tap, metre].allSatisfy {
            $0.count >= Self.minimumSamples && $0.p10 <= $0.p50 && $0.p50 <= $0.p90
                && RSSI(dBm: $0.p10) != nil && RSSI(dBm: $0.p90) != nil
        } && tap.p10 - metre.p90 >= Self.minimumGap
    }
}

extension Calibration.Refusal {
    /// A sentence that says what was measured and why it cannot be used.
    package var sentence: String {
        switch self {
        case .tooFewSamples(.tap, let count):
            "Only \(count) samples at tap distance: \(Calibration.minimumSamples) are needed."
        case .tooFewSamples(.metre, let count):
            "Only \(count) samples at one metre: \(Calibration.minimumSamples) are needed."
        case .overlap(let tap, let metre):
            "The two distances sound too much alike: \(tap) dBm when held against the till, "
                + "\(metre) dBm at one metre; \(Calibration.minimumGap) dB between them are needed."
        }
    }

    /// The advice to the person who measured.
    package var advice: String {
        switch self {
        case .tooFewSamples:
            "Wait longer at each distance; see how often it is heard: gotchu-ctl scan --explain"
        case .overlap:
            "Hold the device closer, move away from metal, and run it again: gotchu-ctl calibrate"
        }
    }
}
