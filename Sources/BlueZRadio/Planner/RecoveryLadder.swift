import GotchuCore
import Radio

/// The position on the ladder of recovery rungs. The time is a parameter.
///
/// If a rung brings no sign of life in time, the next rung is taken. After the top rung there is a
/// rest. Then the climb starts again at the bottom.
struct RecoveryLadder: Sendable {
    /// The reason for the climb; `nil` if no recovery is in progress.
    private(set) var reason: RecoveryReason?
    /// The time from which the next rung may be taken.
    private(set) var due: MonotonicTime?
    /// A Boolean that is true if no rung has helped.
    private(set) var isExhausted = false
    private var tried: RecoveryRung?
    private var rest: Duration
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        rest = timings.firstRest
    }

    /// A Boolean that is true while the effect of a rung is awaited.
    var isClimbing: Bool { tried != nil }

    func isDue(now: MonotonicTime) -> Bool { due.map { $0 <= now } ?? true }

    /// Returns the next rung for a reason.
    ///
    /// - Parameter top: The highest rung that may be taken.
    /// - Returns: The rung; `nil` while the last one has time left, or if no further rung is
    ///   permitted.
    mutating func climb(
        for reason: RecoveryReason,
        top: RecoveryRung,
        now: MonotonicTime
    ) -> RecoveryRung? {
        guard isDue(now: now) else { return nil }
        let next = RecoveryRung.allCases.first { rung in
            reason.canBeCleared(by: rung) && rung <= top && tried.map { $0 < rung } ?? true
        }
        guard let next else {
            tried = nil
            isExhausted = true
            due = now + rest
            rest = min(rest * 2, timings.maximumRest)
            return nil
        }
        self.reason = reason
        tried = next
        let limit = reason == .unresponsive ? timings.answerLimit : timings.proofLimit
        due = now + (next <= .restart ? limit : timings.slowProofLimit)
        return next
    }

    /// Ends the climb after a sign of life.
    mutating func proved() {
        guard reason != nil || isExhausted else { return }
        self = RecoveryLadder(timings: timings)
    }
}
