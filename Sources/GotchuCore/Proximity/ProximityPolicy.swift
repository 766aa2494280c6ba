/// The thresholds and times that determine a verdict. Levels in dBm as the adapter reports them.
///
/// The defaults fit a kiosk that transmits at 0 dBm and is received at −59 dBm at 1 m. In free
/// space, the level at 10 cm is about 20 dB higher. The level at tap distance is then −39 … −45
/// dBm. Real hardware differs by ±10 dB.
package struct ProximityPolicy: Equatable, Sendable {
    /// The thresholds of tap for an adapter without a calibration: between 10 cm (-39 dBm) and half
    /// a metre (-53 dBm). With the constants below, a till at half a metre for 30 s is a false tap
    /// in 0.2 % of the trials (`make bench BENCH=nearness`).
    package var tap = Thresholds(enter: -46.5, leave: -52.5)

    /// The thresholds of near for an adapter without a calibration: about 1.5 and 3 m.
    package var near = Thresholds(enter: -62, leave: -68)

    /// The log odds in nats at which a zone is entered, and against it is left: 5 is 148 to 1. More
    /// is slower, and asks fewer people in the queue to pay another's bill.
    package var certainty = 5.0

    /// The difference in dB between the levels held and not held: 10 cm and half a metre are more
    /// apart, and a hand in between makes them less.
    static let separation = 9.0

    /// The evidence in nats of one dB in one sample of an adapter without a calibration:
    /// `separation` over the variance of a sample, (4.7 dB)².
    static let weight = 0.4

    /// The time in which the correlation of the noise between two samples is taken to fall to 37 %,
    /// 160 ms by default; that of 0.7 at 100 ms would be 280 ms. Longer is slower and has fewer
    /// false taps, so more certainty also trusts quick samples less.
    var correlationTime: Duration { .milliseconds(32) * certainty }

    /// The log odds in nats before the first sample: of four tills first heard, one is in the zone.
    let prior = -1.0

    /// The most evidence of one sample, as a multiple of `certainty`. It must exceed 1, or tills
    /// that advertise every 1.28 s take seconds; a stray sample has at most this effect.
    let sampleLimit = 1.5

    /// The time constant of the level's exponential average. The level ranks EIDs. The average
    /// depends on time, not on the number of samples. With 300 ms, one of two tills that are held
    /// half way is a tap twice as often; with 700 ms, a change of the till takes a second.
    let averagingTime: Duration = .milliseconds(500)

    /// The shortest silence after which a presence is gone.
    let minimumSilence: Duration = .milliseconds(1500)

    /// The silence after a single advertisement, when the interval is unknown: by default BlueZ
    /// advertises every 1.28 s, and some advertisements are lost.
    let firstSilence: Duration = .seconds(4)

    /// The silence after which a presence is gone, as a multiple of the measured interval.
    let silentIntervals = 5

    /// The longest silence after which a presence is gone, at any interval.
    let maximumSilence: Duration = .seconds(12)

    /// The lead in dB that the nearest needs for a verdict other than `ambiguous`: the difference
    /// of two averages deviates by about 4 dB.
    package var lead = 8.0

    /// A Boolean that is true if a presence without any level counts as held against the device.
    /// Only for virtual controllers, which report no level: if true, every EID without a level can
    /// be paid.
    package var acceptsUnknownRSSI = false

    /// The calibrations by adapter. Each replaces `tap` and `near` for its adapter.
    package var calibrations: [String: Calibration] = [:]

    /// The maximum number of EIDs. Beyond it, a new EID replaces another one or is ignored.
    static let presenceLimit = 256

    package init() {}

    /// Returns the thresholds of tap with this adapter.
    package func tap(on adapter: String) -> Thresholds {
        calibrations[adapter]?.tapThresholds ?? tap
    }

    /// Returns the thresholds of near with this adapter.
    package func near(on adapter: String) -> Thresholds {
        calibrations[adapter]?.nearThresholds ?? near
    }

    /// Returns the evidence in nats of one dB in one sample of this adapter.
    func weight(on adapter: String) -> Double { calibrations[adapter]?.weight ?? Self.weight }

    /// The levels at which being inside and outside are equally likely, with a dead band between
    /// them, so that noise does not make a verdict flap.
    package struct Thresholds: Equatable, Sendable {
        /// The level while outside, in dBm: samples above it speak for entering.
        package var enter: Double
        /// The level while inside, in dBm: samples below it speak for leaving. Lower than `enter`.
        package var leave: Double

        package init(enter: Double, leave: Double) {
            precondition(leave < enter, "the dead band must not be empty")
            self.enter = enter
            self.leave = leave
        }
    }
}
