import BlueZ
import GotchuCore

/// The effect, by the kernel's counts, of a discovery filter of ours on the scan here: pure.
///
/// bluetoothd merges the filters of all programs that scan, and tells the kernel nothing where that
/// changes nothing: beside another program's wider filter ours is masked (BlueZ's src/adapter.c,
/// `update_discovery_filter`). Silence after a masked filter says nothing about the kernel.
struct FilterWatch: Sendable {
    enum Effect: Equatable, Sendable {
        case unknown
        /// Commands to the controller follow a filter.
        case restarts
        /// No commands follow a filter, although the scan lives.
        case masked
    }

    /// The number of filters in a row whose commands prove that ours is not masked any more: those
    /// of the scan's own cycle may follow one by chance.
    private static let proof = 2

    private(set) var effect = Effect.unknown
    private let timings: RecoveryTimings
    /// A Boolean that is true while a filter is on its way to bluetoothd and no command has been
    /// seen since.
    private var isAsked = false
    /// The time at which bluetoothd accepted the first filter that is not judged yet.
    private var takenAt: MonotonicTime?
    /// A Boolean that is true if no command followed a filter. Until the scan has begun anew, the
    /// kernel may be stuck.
    private var isIgnored = false
    /// Filters in a row that commands have followed.
    private var answers = 0
    /// A Boolean that is true if the commands since the last look may have other causes.
    private var isDisturbed = false

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    /// A filter is sent to bluetoothd, or a start with one.
    mutating func asked() {
        isAsked = true
    }

    /// bluetoothd has accepted the filter. The commands may come before its answer, or after.
    mutating func accepted(now: MonotonicTime) {
        if isAsked { takenAt = takenAt ?? now }
        isAsked = false
    }

    /// Commands were sent, or not sent, for another reason.
    mutating func disturbed() {
        isDisturbed = true
    }

    /// - Parameter traffic: The counts since the last look.
    mutating func looked(_ traffic: ControllerTraffic, now: MonotonicTime) {
        if traffic.commands > 0 { isAsked = false }
        guard !isDisturbed else {
            (isDisturbed, isIgnored, takenAt) = (false, false, nil)
            return
        }
        if traffic.commands == 0 {
            guard let takenAt, now - takenAt >= timings.proofLimit else { return }
            (isIgnored, answers, self.takenAt) = (true, 0, nil)
            return
        }
        let isAnswer = takenAt != nil
        takenAt = nil
        guard traffic.beginsScan else { return }
        if isAnswer { answers += 1 }
        if isIgnored {
            effect = .masked
        } else if isAnswer, effect != .masked || answers >= Self.proof {
            effect = .restarts
        }
        isIgnored = false
    }
}
