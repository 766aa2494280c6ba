import GotchuAPI
import GotchuCore

/// The order in which nearby EIDs are resolved at the payment server in the background.
///
/// Anyone can advertise any number of EIDs without a session, so queries are limited: the
/// strongest EID first, each at most once until its answer is stale, and only `missLimit` misses
/// (EIDs without a session). Among EIDs within `lead` dB the newest is first, before an older crowd
/// if that is no larger than the board's capacity. A pure value: the time is passed in.
struct ResolvePlan: Sendable {
    /// The maximum number of queued EIDs; beyond it, the one with the lowest rank is dropped.
    static let queueLimit = 16
    /// The maximum number of cached answers.
    static let memoryLimit = 256
    /// The age at which an answer is stale; it is then refreshed if the EID is still wanted.
    static let lifetime: Duration = .seconds(60)
    /// The same for a session that several payers share.
    static let sharedLifetime: Duration = .seconds(5)
    /// The times for which an EID without a session is not asked about again: after the first such
    /// answer, the second, and all others.
    static let missRetryDelays: [Duration] = [.seconds(10), .seconds(30), .seconds(300)]
    /// The retry delay of an EID after no answer.
    static let outageRetryDelay: Duration = .seconds(10)
    /// The number of misses after which the next query waits for `missPeriod`: half of the burst
    /// that the server allows (`MissLimiter`).
    static let missLimit = 10
    /// The additional misses allowed for newly heard EIDs, still below the burst that the server
    /// allows: an older crowd without sessions does not use them up.
    static let newcomerMissLimit = 5
    /// The level difference in dB from which a stronger EID is asked about before a newer one.
    private static let lead = 6.0
    /// The longest pause before the next query that the server can ask for.
    static let maximumPause: Duration = .seconds(300)
    /// The interval at which a tap that lasts is reported again: a payee's screen shows it for ten
    /// seconds.
    static let tapInterval: Duration = .seconds(8)
    /// The time after which one counted miss is forgotten.
    static let missPeriod: Duration = .seconds(20)

    /// The server's answer about an EID.
    enum Outcome: Sendable {
        case session(ResolvedSession)
        /// The EID has no session that could be paid.
        case noSession
        /// There was no answer, or the server asked for a later retry.
        case unknown(retryAfter: Duration?)
    }

    private struct CachedAnswer {
        var session: ResolvedSession?
        /// The time until which the session is fresh; `nil` if each call must ask again.
        var sessionUntil: MonotonicTime?
        var misses = 0
        var validUntil: MonotonicTime
        /// The time at which a tap was last reported to the server.
        var tapAt: MonotonicTime?

        /// A Boolean that is true if a tap should be reported, or reported again.
        func isTapReportDue(at now: MonotonicTime) -> Bool {
            session != nil && tapAt.map { now - $0 >= ResolvePlan.tapInterval } ?? true
        }
    }

    private struct QueueEntry {
        let level: Double
        let since: MonotonicTime
        let isTap: Bool

        /// A Boolean that is true if the EID was first heard less than one `missPeriod` ago.
        func isNew(at now: MonotonicTime) -> Bool { now - since < ResolvePlan.missPeriod }
    }

    private var queue: [EID: QueueEntry] = [:]
    private var answers: [EID: CachedAnswer] = [:]
    private var misses = 0
    private var missesSince: MonotonicTime?
    private var pausedUntil: MonotonicTime?

    /// The cached session of an EID, fresh or stale.
    func session(of eid: EID) -> ResolvedSession? { answers[eid]?.session }

    /// The session of an EID, while the answer is fresh.
    func freshSession(of eid: EID, at now: MonotonicTime) -> ResolvedSession? {
        answers[eid].flatMap { $0.sessionUntil.map { $0 > now } == true ? $0.session : nil }
    }

    /// A Boolean that is true while a fresh answer says that an EID has no session.
    func hasNoSession(_ eid: EID, at now: MonotonicTime) -> Bool {
        answers[eid].map { $0.session == nil && $0.misses > 0 && $0.validUntil > now } ?? false
    }

    /// All cached sessions.
    var sessions: [EID: ResolvedSession] { answers.compactMapValues(\.session) }

    /// Queues an EID that is near, unless its answer is fresh.
    ///
    /// - Parameters:
    ///   - level: In dBm; the strongest is asked about first.
    ///   - since: The time at which it was first heard.
    ///   - isTap: True if this device taps the one that advertises it. A session is then asked
    ///     about again, so that its payee is notified. Nearness alone is not reported: it would
    ///     light up the screens of a whole room.
    /// - Returns: True if the EID was newly queued.
    mutating func enqueue(
        _ eid: EID,
        level: Double,
        since: MonotonicTime,
        isTap: Bool = false,
        at now: MonotonicTime
    ) -> Bool {
        if let answer = answers[eid], answer.validUntil > now {
            guard isTap, answer.isTapReportDue(at: now) else { return false }
        }
        let entry = QueueEntry(level: level, since: since, isTap: isTap)
        let isNew = queue.updateValue(entry, forKey: eid) == nil
        if queue.count > Self.queueLimit, let last = ranked.first {
            queue[last] = nil
            return isNew && last != eid
        }
        return isNew
    }

    /// Removes an EID that is no longer near from the queue.
    mutating func removeFromQueue(_ eid: EID) { queue[eid] = nil }

    /// Returns the next EID to ask about; `nil` if there is none, or none may be asked about now.
    mutating func next(at now: MonotonicTime) -> EID? {
        guard wait(at: now) == nil else { return nil }
        return ranked.last
    }

    /// A Boolean that is true if the query about an EID reports a tap.
    func isTap(_ eid: EID) -> Bool { queue[eid]?.isTap == true }

    /// The queued EIDs, the next one last.
    private var ranked: [EID] {
        let top = (queue.values.map(\.level).max() ?? 0) - Self.lead
        return queue.sorted { left, right in
            let levels = (min(left.value.level, top), min(right.value.level, top))
            return (levels.0, left.value.since, right.key)
                < (levels.1, right.value.since, left.key)
        }
        .map(\.key)
    }

    /// Returns the time until the next query is allowed; `nil` if it is now, or none is queued.
    mutating func wait(at now: MonotonicTime) -> Duration? {
        guard let next = ranked.last, let entry = queue[next] else { return nil }
        forgetMisses(at: now)
        var until = pausedUntil ?? now
        let limit = Self.missLimit + (entry.isNew(at: now) ? Self.newcomerMissLimit : 0)
        if misses >= limit, let missesSince {
            until = max(until, missesSince + Self.missPeriod)
        }
        return until > now ? until - now : nil
    }

    /// Records the answer to a query.
    mutating func record(_ eid: EID, _ outcome: Outcome, at now: MonotonicTime) {
        let isTap = queue.removeValue(forKey: eid)?.isTap == true
        var answer = answers[eid] ?? CachedAnswer(session: nil, validUntil: now)
        let tapAt = isTap ? now : answer.tapAt
        switch outcome {
        case .session(let session):
            let until = now + Self.lifetime
            // The next share may have another amount at any time, so each payment step asks again.
            answer =
                session.places == nil
                ? CachedAnswer(session: session, sessionUntil: until, validUntil: until)
                : CachedAnswer(session: session, validUntil: now + Self.sharedLifetime)
        case .noSession:
            answer.session = nil
            answer.misses += 1
            let wait = Self.missRetryDelays[min(answer.misses, Self.missRetryDelays.count) - 1]
            answer.validUntil = now + wait
            forgetMisses(at: now)
            misses += 1
            missesSince = missesSince ?? now
        case .unknown(let retryAfter):
            answer.validUntil = now + Self.outageRetryDelay
            if let retryAfter { pausedUntil = now + min(retryAfter, Self.maximumPause) }
        }
        answer.tapAt = tapAt
        if answers.count >= Self.memoryLimit, answers[eid] == nil {
            // Evicts the answer that becomes stale first: EIDs still near are asked about again.
            let oldest = answers.min { $0.value.validUntil < $1.value.validUntil }
            if let oldest { answers[oldest.key] = nil }
        }
        answers[eid] = answer
    }

    /// Records that a session has ended: its EIDs have no session from now on.
    ///
    /// - Returns: Those EIDs.
    mutating func end(_ session: SessionID, at now: MonotonicTime) -> [EID] {
        let ended = answers.filter { $0.value.session?.sid == session }.map(\.key)
        for eid in ended {
            let validUntil = now + (Self.missRetryDelays.last ?? .zero)
            answers[eid] = CachedAnswer(session: nil, misses: 1, validUntil: validUntil)
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
