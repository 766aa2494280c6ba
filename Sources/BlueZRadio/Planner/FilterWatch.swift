import BlueZ
import GotchuCore

/// The effect of our discovery filters on the scan, judged by the kernel's counts. The time is a
/// parameter.
///
/// bluetoothd merges the filters of all programs that scan, and sends the kernel nothing if the
/// result is the same: another program's wider filter masks ours (BlueZ's src/adapter.c,
/// `update_discovery_filter`). If no command follows a masked filter, the kernel may still be well.
struct FilterWatch: Sendable {
    enum Effect: Equatable, Sendable {
        case unknown
        /// Commands to the controller follow a filter.
        case restarts
        /// No commands follow a filter, although the scan runs.
        case masked
    }

    /// The number of consecutive filters after which ours no longer counts as masked, if commands
    /// follow each of them. One is not enough: the scan's own cycle may send commands by chance.
    private static let restartsToUnmask = 2

    private(set) var effect = Effect.unknown
    private let timings: RecoveryTimings
    /// A Boolean that is true after a filter was sent to bluetoothd, until it is accepted or a
    /// command is seen.
    private var isPending = false
    /// The time at which bluetoothd accepted the first filter that is not judged yet.
    private var acceptedAt: MonotonicTime?
    /// A Boolean that is true if no command followed a filter: it is masked, or the kernel is
    /// stuck. It is masked if the scan then restarts by itself.
    private var isIgnored = false
    /// The number of consecutive filters that were followed by commands.
    private var restartCount = 0
    /// A Boolean that is true if the commands since the last reading may have other causes.
    private var isUnclear = false

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    /// Records that a filter, or a start with one, is sent to bluetoothd.
    mutating func sent() {
        isPending = true
    }

    /// Records that bluetoothd has accepted the filter. Commands may precede or follow its reply.
    mutating func accepted(now: MonotonicTime) {
        if isPending { acceptedAt = acceptedAt ?? now }
        isPending = false
    }

    /// Records that something other than a filter affects the counts until the next reading.
    mutating func markCountsUnclear() {
        isUnclear = true
    }

    /// - Parameter traffic: The counts since the last reading.
    mutating func readCounts(_ traffic: ControllerTraffic, now: MonotonicTime) {
        if traffic.commands > 0 { isPending = false }
        guard !isUnclear else {
            (isUnclear, isIgnored, acceptedAt) = (false, false, nil)
            return
        }
        if traffic.commands == 0 {
            guard let acceptedAt, now - acceptedAt >= timings.proofLimit else { return }
            (isIgnored, restartCount, self.acceptedAt) = (true, 0, nil)
            return
        }
        let isRestart = acceptedAt != nil
        acceptedAt = nil
        guard traffic.beginsScan else { return }
        if isRestart { restartCount += 1 }
        if isIgnored {
            effect = .masked
        } else if isRestart, effect != .masked || restartCount >= Self.restartsToUnmask {
            effect = .restarts
        }
        isIgnored = false
    }
}
