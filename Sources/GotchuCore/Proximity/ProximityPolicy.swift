/// The thresholds and times that determine a verdict. Levels in dBm as the adapter reports them.
///
/// The defaults fit a kiosk that transmits at 0 dBm and is received at −59 dBm at 1 m. In free
/// space, the level at 10 cm is about 20 dB higher. The level at tap distance is then −39 … −45
/// dBm. Real hardware differs by ±10 dB.
package struct ProximityPolicy: Equatable, Sendable {
    /// The thresholds of tap for an adapter without a calibration.
    package var tap = Thresholds(enter: -45, leave: -55)

    /// The thresholds of near for an adapter without a calibration.
    package var near = Thresholds(enter: -60, leave: -68)

    /// The time constant of the exponential average. The average depends on time, not on the number
    /// of samples. The same signal then gives the same level at any advertising interval.
    var timeConstant: Duration = .milliseconds(300)

    /// The maximum difference between the average and the median, in dB. A larger one is movement,
    /// not noise.
    package var lag = 6.0

    /// The evidence needed to enter, in dB. Evidence is the excess of the level over the threshold,
    /// summed over consecutive samples. A strong signal needs few samples to enter. A weak signal
    /// that only noise lifts above the threshold does not enter.
    var evidenceToEnter = 10.0

    /// The minimum evidence of a sample at or above the threshold, in dB.
    var minimumEvidence = 1.0

    /// The time for which the level must have been above the threshold to enter.
    var timeToEnter: Duration = .milliseconds(250)

    /// The same time after a single sample above the threshold. The next sample is then late or
    /// lost.
    var timeForSingleSample: Duration = .milliseconds(700)

    /// The time for which the level must be below the threshold to leave.
    var timeToLeave: Duration = .seconds(1)

    /// The shortest silence after which a presence is gone.
    var minimumSilence: Duration = .milliseconds(1500)

    /// The silence after a single advertisement, when the interval is unknown: by default BlueZ
    /// advertises every 1.28 s, and some advertisements are lost.
    var firstSilence: Duration = .seconds(4)

    /// The silence after which a presence is gone, as a multiple of the measured interval.
    var silentIntervals = 5

    /// The longest silence after which a presence is gone, at any interval.
    var maximumSilence: Duration = .seconds(12)

    /// The lead in dB that the nearest needs for a verdict other than `ambiguous`.
    package var lead = 6.0

    /// The time for which the nearest must lead.
    package var timeToLead: Duration = .milliseconds(300)

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

    /// Two levels with a dead band between them, so that noise does not make a verdict flap.
    package struct Thresholds: Equatable, Sendable {
        /// Enter at or above this level, in dBm.
        package var enter: Double
        /// Leave below this level, in dBm; lower than `enter`.
        package var leave: Double

        package init(enter: Double, leave: Double) {
            precondition(leave < enter, "the dead band must not be empty")
            self.enter = enter
            self.leave = leave
        }
    }
}
