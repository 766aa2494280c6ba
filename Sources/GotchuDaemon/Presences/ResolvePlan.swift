import GotchuAPI
import GotchuCore

/// The order in which nearby EIDs are resolved at the payment server in the background.
///
/// Anyone can advertise any number of EIDs without a session, so queries are limited. The strongest
/// EID is first. Each EID is asked about once until its answer is stale. An EID without a session
/// is a miss; after `missLimit` misses, only one query per `missPeriod` is allowed.
///
/// Among the EIDs within `lead` dB of the strongest, the newest is first. It comes before all older
/// EIDs if these are no more than the board's capacity. A pure value: the time is passed in.
struct ResolvePlan: Sendable {
    /// The maximum number of queued EIDs. Beyond it, the EID with the lowest rank is dropped.
    static let queueLimit = 16
    /// The maximum number of cached answers.
    static let memoryLimit = 256
    /// The age at which an answer is stale. If the EID is queued again, the server is then asked
    /// again.
    static let lifetime: Duration = .seconds(60)
    /// The age at which an answer is stale if several payers share the session.
    static let sharedLifetime: Duration = .seconds(5)
    /// The times for which an EID without a session is not asked about again: after the first such
    /// answer, the second, and all later ones.
    static let missRetryDelays: [Duration] = [.seconds(10), .seconds(30), .seconds(300)]
    /// The retry delay of an EID after a query without an answer.
    static let outageRetryDelay: Duration = .seconds(10)
    /// The number of misses after which the next query waits for `missPeriod`. It is half of the
    /// burst that the server allows (`MissLimiter`).
    static let missLimit = 10
    /// The number of additional misses allowed for newly heard EIDs. Older EIDs without a session
    /// cannot use these up. The sum is below the burst that the server allows, and leaves room for
    /// one payment's questions.
    static let newcomerMissLimit = 5
    /// The maximum number of EIDs without an answer that one payment asks about. These queries do
    /// not count in the limits above.
    static let rivalLimit = 3
    /// The level difference in dB to the strongest EID up to which a newer EID precedes a stronger
    /// one.
    private static let lead = 6.0
    /// The maximum pause before the next query. If the server asks for a longer one, this one
    /// applies.
    static let maximumPause: Duration = .seconds(300)
    /// The interval at which a continuing tap is reported again. A payee's screen shows a tap for
    /// ten seconds.
    static let tapInterval: Duration = .seconds(8)
    /// The time after which one counted miss is forgotten.
    static let missPeriod: Duration = .seconds(20)

    /// The server's answer about an EID.
    enum Outcome: Sendable {
        case session(ResolvedSession)
        /// The EID has no session that can be paid.
        case noSession
        /// There was no answer, or the server asked for a later retry.
        case unknown(retryAfter: Duration?)
    }

    private struct CachedAnswer {
        var session: ResolvedSession?
        /// The time until which the session is fresh; `nil` if each payment step must ask again.
        var sessionUntil: MonotonicTime?
        var misses = 0
        /// The time until which a refusal is fresh. A later query without an answer does not renew
        /// it.
        var refusedUntil: MonotonicTime?
        var validUntil: MonotonicTime
        /// The time at which the query for this answer began.
        var askedAt: MonotonicTime?
        /// The time at which a tap was last reported to the server.
        var tapAt: MonotonicTime?

        /// Returns true if a tap should be reported now, for the first time or again.
        func isTapReportDue(at now: MonotonicTime) -> Bool {
            session != nil && tapAt.map { now - $0 >= ResolvePlan.tapInterval } ?? true
        }
    }

    private struct QueueEntry {
        let level: Double
        let since: MonotonicTime
        let isTap: Bool

        /// Returns true if the EID was first heard less than one `missPeriod` ago.
        func isNew(at now: MonotonicTime) -> Bool { now - since < ResolvePlan.missPeriod }
    }

    private var queue: [EID: QueueEntry] = [:]
    private var answers: [EID: CachedAnswer] = [:]
    private var misses = 0
    private var missesSince: MonotonicTime?
    private var pausedUntil: MonotonicTime?

    /// Returns the cached session of an EID, fresh or stale.
    func session(of eid: EID) -> ResolvedSession? { answers[eid]?.session }

    /// Returns the session of an EID if the answer is fresh.
    func freshSession(of eid: EID, at now: MonotonicTime) -> ResolvedSession? {
        answers[eid].flatMap { $0.sessionUntil.map { $0 > now } == true ? $0.session : nil }
    }

    /// Returns true while a fresh answer says that an EID has no session.
    func hasNoSession(_ eid: EID, at now: MonotonicTime) -> Bool {
        answers[eid]?.refusedUntil.map { $0 > now } ?? false
    }

    var sessions: [EID: ResolvedSession] { answers.compactMapValues(\.session) }

    /// Queues an EID that is near, unless its answer is fresh and no tap is to be reported.
    ///
    /// - Parameters:
    ///   - level: The level in dBm. The strongest EID is asked about first.
    ///   - since: The time at which the EID was first heard.
    ///   - isTap: True if this device taps the device that advertises the EID. The server is then
    ///     asked again even if a session is cached, and notifies the payee. An EID that is only
    ///     near is not reported: otherwise all payees in a room would be notified.
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

    /// Returns the next EID to ask about; `nil` if none is queued or no query is allowed now.
    mutating func next(at now: MonotonicTime) -> EID? {
        guard wait(at: now) == nil else { return nil }
        return ranked.last
    }

    /// Returns true if the query about an EID reports a tap.
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

    /// Returns the time until the next query is allowed; `nil` if it is allowed now or none is
    /// queued.
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

    /// Records the answer to a query. An answer that a later query has overtaken is dropped.
    ///
    /// - Parameters:
    ///   - isBackground: True if the query came from the queue. Only then it counts as a miss, and
    ///     may have reported a tap.
    ///   - askedAt: The time at which the query began; `nil` for `now`.
    mutating func record(
        _ eid: EID,
        _ outcome: Outcome,
        isBackground: Bool = true,
        askedAt: MonotonicTime? = nil,
        at now: MonotonicTime
    ) {
        let isTap = isBackground && queue.removeValue(forKey: eid)?.isTap == true
        if isTap { answers[eid]?.tapAt = now }
        if isBackground, case .noSession = outcome { countMiss(at: now) }
        if case .unknown(let retryAfter?) = outcome {
            pausedUntil = now + min(retryAfter, Self.maximumPause)
        }
        var answer = answers[eid] ?? CachedAnswer(session: nil, validUntil: now)
        let askedAt = askedAt ?? now
        if let newest = answer.askedAt, newest > askedAt { return }
        let tapAt = isTap ? now : answer.tapAt
        switch outcome {
        case .session(let session):
            let until = now + Self.lifetime
            // The next share may have another amount at any time, so each payment step asks again.
            answer =
                session.places == nil
                ? CachedAnswer(session: session, sessionUntil: until, validUntil: until)
                : CachedAnswer(session: session, validUntil: now + Self.sharedLifetime)
            answer.askedAt = askedAt
        case .noSession:
            answer.session = nil
            answer.misses += 1
            let wait = Self.missRetryDelays[min(answer.misses, Self.missRetryDelays.count) - 1]
            answer.validUntil = now + wait
            answer.refusedUntil = answer.validUntil
            answer.askedAt = askedAt
        case .unknown: answer.validUntil = now + Self.outageRetryDelay
        }
        answer.tapAt = tapAt
        // A queued tap is still to be reported.
        if answer.session == nil || queue[eid]?.isTap == false { queue[eid] = nil }
        if answers.count >= Self.memoryLimit, answers[eid] == nil {
            // The answer that becomes stale first is evicted. If its EID is still near, it is asked
            // about again.
            let oldest = answers.min { $0.value.validUntil < $1.value.validUntil }
            if let oldest { answers[oldest.key] = nil }
        }
        answers[eid] = answer
    }

    /// Records that a session has ended. Its EIDs count as EIDs without a session. A session that
    /// several payers share is still open for the others, and is left as it is.
    ///
    /// - Returns: The cached EIDs of the session.
    mutating func end(_ session: SessionID, at now: MonotonicTime) -> [EID] {
        let ended = answers.filter {
            $0.value.session?.sid == session && $0.value.session?.places == nil
        }
        .map(\.key)
        for eid in ended {
            let until = now + (Self.missRetryDelays.last ?? .zero)
            answers[eid] = CachedAnswer(
                session: nil,
                misses: 1,
                refusedUntil: until,
                validUntil: until,
                askedAt: now
            )
        }
        return ended
    }

    private mutating func countMiss(at now: MonotonicTime) {
        forgetMisses(at: now)
        misses += 1
        missesSince = missesSince ?? now
    }

    private mutating func forgetMisses(at now: MonotonicTime) {
        while misses > 0, let since = missesSince, now - since >= Self.missPeriod {
            misses -= 1
            missesSince = misses > 0 ? since + Self.missPeriod : nil
        }
    }
}
