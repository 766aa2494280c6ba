/// The log odds that an EID is within a zone, from the samples of one adapter.
///
/// Each sample shifts the odds by its excess over the zone's threshold. Noise is correlated over
/// time, so a sample counts in proportion to the time since the one before; the newest one counts
/// in full. This is the likelihood ratio of a shift of the level in autoregressive noise, with its
/// sum limited on both sides (Page's CUSUM; Polunchenko and Raghavan, arXiv 1706.00824), in a form
/// that is monotone in each sample. Only a sample changes the zone, never the time alone.
struct ZoneGate: Sendable {
    private(set) var isInside = false
    /// The log odds in nats as of the last sample, within ± `certainty`.
    private(set) var odds = 0.0
    /// The part of the odds that the next sample adds to; `nil` before the first sample.
    private var sum: Double?

    /// Applies a sample.
    ///
    /// - Parameter sample: The level, the correlation of its noise with that of the sample before
    ///   (0 … 1), and the evidence of one dB in nats.
    mutating func add(
        _ sample: (rssi: RSSI, correlation: Double, weight: Double),
        thresholds: ProximityPolicy.Thresholds,
        policy: ProximityPolicy
    ) {
        let (certainty, correlation) = (policy.certainty, sample.correlation)
        let excess = Double(sample.rssi.dBm) - (isInside ? thresholds.leave : thresholds.enter)
        let evidence = (sample.weight * excess).clamped(to: policy.sampleLimit * certainty)
        let independent = (1 - correlation) / (1 + correlation) * evidence
        let sum = ((sum ?? policy.prior) + independent).clamped(to: certainty)
        self.sum = sum
        odds = (sum + correlation / (1 + correlation) * evidence).clamped(to: certainty)
        if odds >= certainty { isInside = true }
        if odds <= -certainty { isInside = false }
    }
}

extension Double {
    /// Returns the nearest number within ± `limit`.
    fileprivate func clamped(to limit: Double) -> Double { min(limit, max(-limit, self)) }
}
