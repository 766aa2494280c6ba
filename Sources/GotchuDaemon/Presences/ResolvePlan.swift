import GotchuAPI
import GotchuCore

/// The order in which EIDs nearby are asked about at the payment server, beside what the user does.
///
/// Anybody can advertise any number of EIDs that are nobody's, so few are asked about: the
/// strongest first, each at most once until its answer is old, and of those that are nobody's only
/// as many as `missLimit` allows. Of those that no `lead` tells apart the newest is first: it comes
/// before a crowd that was here before, if that is no more than the board has room for. A pure
/// value: the time is passed in.
struct ResolvePlan: Sendable {
    /// EIDs that wait; of more the last are not worth asking about now.
    static let queueLimit = 16
    /// Answers that are remembered.
    static let memoryLimit = 256
    /// The age at which an answer is asked for again, if the EID is still wanted.
    static let lifetime: Duration = .seconds(60)
    /// The same of a bill that several pay.
    static let sharedLifetime: Duration = .seconds(5)
    /// The time for which an EID that is nobody's is not asked about again: after the first such
    /// answer, the second, and all others.
    static let missWaits: [Duration] = [.seconds(10), .seconds(30), .seconds(300)]
    /// The time for which an EID is left alone after no answer.
    static let outageWait: Duration = .seconds(10)
    /// Answers "nobody's" in a row before the next question waits for `missPeriod`: half of what
    /// the server allows at once (`MissLimiter`).
    static let missLimit = 10
    /// Further such answers that those may cost which have just come, still below what the server
    /// allows at once: a crowd that is nobody's does not use them up.
    static let newcomerMissLimit = 5
    /// By how many dB an EID must be stronger to be asked about before a newer one.
    private static let lead = 6.0
    /// The longest time for which a server that asks for patience is asked nothing.
    static let longestPause: Duration = .seconds(300)
    /// The time after which a tap that lasts is reported again: a payee's screen shows it for ten
    /// seconds.
    static let tapInterval: Duration = .seconds(8)
    /// The time in which one such answer is forgotten.
    static let missPeriod: Duration = .seconds(20)

    /// The server's answer about an EID.
    enum Outcome: Sendable {
        case session(ResolvedSession)
        /// It stands for nothing that could be paid.
        case nobodys
        /// There was no answer, or the server asked to come back after a while.
        case unknown(retryAfter: Duration?)
    }

    private struct Answered {
        var session: ResolvedSession?
        /// The time until which the session needs no other answer.
        var sessionUntil: MonotonicTime?
        var misses = 0
        var validUntil: MonotonicTime
        /// The time at which the server was last told of a tap.
        var tapAt: MonotonicTime?

        /// A Boolean that is true if the server should be told of a tap, or again.
        func wantsTap(at now: MonotonicTime) -> Bool {
            session != nil && tapAt.map { now - $0 >= ResolvePlan.tapInterval } ?? true
        }
    }

    private struct Wish {
        let level: Double
        let since: MonotonicTime
        let isTap: Bool

        /// A Boolean that is true for one that has just come: since the last answer was forgotten.
        func isNew(at now: MonotonicTime) -> Bool { now - since < ResolvePlan.missPeriod }
    }

    private var wanted: [EID: Wish] = [:]
    private var answers: [EID: Answered] = [:]
    private var misses = 0
    private var missesSince: MonotonicTime?
    private var pausedUntil: MonotonicTime?

    /// The session of an EID, as far as it is known.
    func session(of eid: EID) -> ResolvedSession? { answers[eid]?.session }

    /// The session of an EID, while the answer is fresh.
    func freshSession(of eid: EID, at now: MonotonicTime) -> ResolvedSession? {
        answers[eid].flatMap { $0.sessionUntil.map { $0 > now } == true ? $0.session : nil }
    }

    /// A Boolean that is true while the answer is fresh that an EID is nobody's.
    func isNobodys(_ eid: EID, at now: MonotonicTime) -> Bool {
        answers[eid].map { $0.session == nil && $0.misses > 0 && $0.validUntil > now } ?? false
    }

    /// All sessions that are known.
    var sessions: [EID: ResolvedSession] { answers.compactMapValues(\.session) }

    /// Records that an EID is near.
    ///
    /// - Parameters:
    ///   - level: In dBm; the strongest is asked about first.
    ///   - since: The time at which it was first heard.
    ///   - isTap: True if this device is at the one that advertises it, and at no other: then a
    ///     session is asked about anew, so that its payee learns of it. Nearness alone would light
    ///     up the screens of a whole room.
    /// - Returns: True if there is something new to ask.
    mutating func want(
        _ eid: EID,
        level: Double,
        since: MonotonicTime,
        isTap: Bool = false,
        at now: MonotonicTime
    ) -> Bool {
        if let answer = answers[eid], answer.validUntil > now {
            guard isTap, answer.wantsTap(at: now) else { return false }
        }
        let wish = Wish(level: level, since: since, isTap: isTap)
        let isNew = wanted.updateValue(wish, forKey: eid) == nil
        if wanted.count > Self.queueLimit, let last = ranked.first {
            wanted[last] = nil
            return isNew && last != eid
        }
        return isNew
    }

    /// Records that an EID is not near any more.
    mutating func forget(_ eid: EID) { wanted[eid] = nil }

    /// The next question; `nil` while there is none, or none may be asked.
    mutating func next(at now: MonotonicTime) -> EID? {
        guard wait(at: now) == nil else { return nil }
        return ranked.last
    }

    /// A Boolean that is true if the question about an EID tells of a tap.
    func isTap(_ eid: EID) -> Bool { wanted[eid]?.isTap == true }

    /// The EIDs that wait, the next one last.
    private var ranked: [EID] {
        let top = (wanted.values.map(\.level).max() ?? 0) - Self.lead
        return wanted.sorted { left, right in
            let levels = (min(left.value.level, top), min(right.value.level, top))
            return (levels.0, left.value.since, right.key)
                < (levels.1, right.value.since, left.key)
        }
        .map(\.key)
    }

    /// The time until something may be asked again; `nil` if that is now, or nothing is wanted.
    mutating func wait(at now: MonotonicTime) -> Duration? {
        guard let next = ranked.last, let wish = wanted[next] else { return nil }
        forgetMisses(at: now)
        var until = pausedUntil ?? now
        let limit = Self.missLimit + (wish.isNew(at: now) ? Self.newcomerMissLimit : 0)
        if misses >= limit, let missesSince {
            until = max(until, missesSince + Self.missPeriod)
        }
        return until > now ? until - now : nil
    }

    /// Records the answer to a question.
    mutating func record(_ eid: EID, _ outcome: Outcome, at now: MonotonicTime) {
        let isTap = wanted.removeValue(forKey: eid)?.isTap == true
        var answer = answers[eid] ?? Answered(session: nil, validUntil: now)
        let tapAt = isTap ? now : answer.tapAt
        switch outcome {
        case .session(let session):
            let until = now + Self.lifetime
            // The next share may be of another amount at any moment: each payment asks.
            answer =
                session.places == nil
                ? Answered(session: session, sessionUntil: until, validUntil: until)
                : Answered(session: session, validUntil: now + Self.sharedLifetime)
        case .nobodys:
            answer.session = nil
            answer.misses += 1
            let wait = Self.missWaits[min(answer.misses, Self.missWaits.count) - 1]
            answer.validUntil = now + wait
            forgetMisses(at: now)
            misses += 1
            missesSince = missesSince ?? now
        case .unknown(let retryAfter):
            answer.validUntil = now + Self.outageWait
            if let retryAfter { pausedUntil = now + min(retryAfter, Self.longestPause) }
        }
        answer.tapAt = tapAt
        if answers.count >= Self.memoryLimit, answers[eid] == nil {
            // The one that grows old first makes room: what is here is asked about again.
            let oldest = answers.min { $0.value.validUntil < $1.value.validUntil }
            if let oldest { answers[oldest.key] = nil }
        }
        answers[eid] = answer
    }

    /// Records that a session has ended: its EIDs are nobody's from now on.
    ///
    /// - Returns: Those EIDs.
    mutating func end(_ session: SessionID, at now: MonotonicTime) -> [EID] {
        let ended = answers.filter { $0.value.session?.sid == session }.map(\.key)
        for eid in ended {
            let validUntil = now + (Self.missWaits.last ?? .zero)
            answers[eid] = Answered(session: nil, misses: 1, validUntil: validUntil)
        }
        return ended
    }

    private mutating func forgetMisses(at now: MonotonicTime) {
        while misses > 0, let since = missesSince, now - since >= Self.missPeriod {
            misses -= 1
            missesSince = misses > 0 ? since + Self.missPeriod : nil
        }
    }
}
