/// The numbers behind a verdict. Levels in dBm as the adapter reports them.
///
/// The defaults fit a 0 dBm kiosk: free space puts 10 cm about 20 dB above 1 m (−59 dBm), which
/// gives −39 … −45 dBm at tap distance. Real hardware differs by ±10 dB.
package struct ProximityPolicy: Equatable, Sendable {
    /// Enter tap at or above the first level, leave it below the second.
    package var tap = Thresholds(enter: -45, leave: -55)

    /// Enter near at or above the first level, leave it below the second.
    package var near = Thresholds(enter: -60, leave: -68)

    /// The time constant of the exponential average, by time and not by sample, so that the same
    /// signal gives the same level at any advertising interval.
    var timeConstant: Duration = .milliseconds(300)

    /// By how many dB the average lags behind the median at most: more is a move and no noise.
    package var lag = 6.0

    /// The evidence needed to enter, in dB: the levels above the threshold, added up over
    /// consecutive samples. A strong signal enters with a few samples; a weak one that noise lifts
    /// above the threshold now and then does not.
    var evidenceToEnter = 10.0

    /// The evidence, in dB, that one sample at the threshold or above adds at least.
    var leastEvidence = 1.0

    /// For how long the level must have been above it.
    var timeToEnter: Duration = .milliseconds(250)

    /// The same, where a single sample is the whole evidence: the next one is rare or was lost.
    var timeToEnterAlone: Duration = .milliseconds(700)

    /// For how long the level must be below the threshold to leave.
    var timeToLeave: Duration = .seconds(1)

    /// The shortest silence after which a presence is gone.
    var minimumSilence: Duration = .milliseconds(1500)

    /// The same after a single advertisement, when nobody knows how rare they are: BlueZ advertises
    /// each 1.28 s unless told otherwise, and some are lost.
    var firstSilence: Duration = .seconds(4)

    /// The same, as a multiple of the interval learnt for that presence.
    var silentIntervals = 5

    /// No silence longer than this is waited for, however rare the advertisements are.
    var maximumSilence: Duration = .seconds(12)

    /// By how many dB the nearest must lead the next for a verdict without `ambiguous`.
    package var lead = 6.0

    /// The time in which the server must say what an EID stands for.
    var timeToResolve: Duration = .milliseconds(500)

    /// By how many dB an EID ranks lower whose answer is overdue.
    var handicap = 12.0

    /// For how long it must lead.
    var timeToLead: Duration = .milliseconds(300)

    /// A Boolean that is true if a presence without any level counts as held against the device.
    /// Only for virtual controllers that report no level at all: with it on, everything heard is
    /// payable.
    package var acceptsUnknownRSSI = false

    /// The calibrations by adapter; each replaces `tap` and `near` there.
    package var calibrations: [String: Calibration] = [:]

    /// The number of EIDs that are kept; beyond it the farthest one that was not heard for longest
    /// is dropped.
    static let presenceLimit = 256

    package init() {}

    /// The levels for tap that apply to what this adapter hears.
    package func tap(on adapter: String) -> Thresholds {
        calibrations[adapter]?.tapThresholds ?? tap
    }

    /// The levels for near that apply to what this adapter hears.
    package func near(on adapter: String) -> Thresholds {
        calibrations[adapter]?.nearThresholds ?? near
    }

    /// Two levels with a dead band between them, so that noise does not flap a verdict.
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
