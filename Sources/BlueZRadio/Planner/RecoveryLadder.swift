import GotchuCore
import Radio

/// The place on the ladder of rungs: pure.
///
/// A rung that shows no sign of life in time is followed by the next. Above the top is a rest, and
/// then the way begins below again.
struct RecoveryLadder: Sendable {
    /// The reason why we are on it; `nil` on the ground.
    private(set) var reason: RecoveryReason?
    /// The time from which the next rung may be taken.
    private(set) var due: MonotonicTime?
    /// Nothing has helped.
    private(set) var isExhausted = false
    private var tried: RecoveryRung?
    private var rest: Duration
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
        rest = timings.firstRest
    }

    /// A Boolean that is true while the proof of a rung is awaited.
    var isClimbing: Bool { tried != nil }

    func isDue(now: MonotonicTime) -> Bool { due.map { $0 <= now } ?? true }

    /// The next rung for a reason.
    ///
    /// - Parameter top: the highest that may be taken.
    /// - Returns: `nil` while the last one has time left, and above the top.
    mutating func climb(
        for reason: RecoveryReason,
        top: RecoveryRung,
        now: MonotonicTime
    ) -> RecoveryRung? {
        guard isDue(now: now) else { return nil }
        let next = RecoveryRung.allCases.first { rung in
            reason.takes(rung) && rung <= top && tried.map { $0 < rung } ?? true
        }
        guard let next else {
            tried = nil
            isExhausted = true
            due = now + rest
            rest = min(rest * 2, timings.longestRest)
            return nil
        }
        self.reason = reason
        tried = next
        let limit = reason == .unresponsive ? timings.answerLimit : timings.proofLimit
        due = now + (next <= .restart ? limit : timings.slowProofLimit)
        return next
    }

    /// A sign of life: down to the ground.
    mutating func proved() {
        guard reason != nil || isExhausted else { return }
        self = RecoveryLadder(timings: timings)
    }
}
