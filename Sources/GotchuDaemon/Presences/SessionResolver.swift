import GotchuAPI
import GotchuCore
import PaymentClient
import ServiceLifecycle
import Synchronization

/// Resolves nearby EIDs at the payment server. Background queries run one at a time
/// (`ResolvePlan`).
final class SessionResolver: Sendable {
    private let client: PaymentClient
    private let plan = Mutex(ResolvePlan())
    /// The background query in progress.
    private let query = Mutex<Query?>(nil)
    /// A Boolean that is true until the server has refused a query that reports a tap.
    private let reportsTaps = Atomic(true)
    private let listener = Mutex<(@Sendable (EID) -> Void)?>(nil)
    private let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// A query in progress, and the callers that also wait for its answer.
    private struct Query {
        let eid: EID
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    init(client: PaymentClient) {
        self.client = client
    }

    /// Sets the function to call with each EID that the server has answered about, after the answer
    /// was recorded and before the query returns.
    func listen(_ onAnswer: @escaping @Sendable (EID) -> Void) {
        listener.withLock { $0 = onAnswer }
    }

    /// Returns the session of an EID, from a fresh cached answer or from the server.
    ///
    /// The steps of one payment share one answer. If a background query about the EID is in
    /// progress, its answer is awaited. If several payers share the session, each call asks the
    /// server.
    func resolve(_ eid: EID) async -> Answer<ResolvedSession> {
        await joinQuery(about: eid)
        if let session = plan.withLock({ $0.freshSession(of: eid, at: .now) }) {
            return .success(session)
        }
        return await ask(about: eid).map(ResolvedSession.init)
    }

    /// Asks the server about several EIDs at once, in the foreground.
    func resolve(_ eids: some Sequence<EID> & Sendable) async {
        await withDiscardingTaskGroup { group in
            for eid in eids { group.addTask { _ = await self.resolve(eid) } }
        }
    }

    /// Asks the server, even if a fresh answer is cached, whether the session of an EID has ended.
    ///
    /// - Returns: The server's refusal; `nil` if the session is open, or if it is not known.
    func endOfSession(of eid: EID) async -> Problem? {
        guard case .refused(let problem) = await ask(about: eid) else { return nil }
        switch problem.errorCode {
        case .sessionPaid, .sessionCancelled, .sessionExpired: break
        // An EID that is not found may have been replaced by the next one of its session.
        default: return nil  // SAFETY: no other code says that the session has ended.
        }
        return problem
    }

    /// Returns the cached session of an EID, fresh or stale. The server is not asked.
    func cached(_ eid: EID) -> ResolvedSession? { plan.withLock { $0.session(of: eid) } }

    /// All cached sessions.
    var known: [EID: ResolvedSession] { plan.withLock(\.sessions) }

    /// Returns the server's cached answer about an EID. `noSession` is returned only while the
    /// answer is fresh.
    func resolution(of eid: EID) -> Presence.Resolution {
        plan.withLock { plan in
            if let session = plan.session(of: eid) { return .session(session.sid) }
            return plan.hasNoSession(eid, at: .now) ? .noSession : .unknown
        }
    }

    /// Queues an EID to be resolved, with the parameters of `ResolvePlan.enqueue`.
    func enqueue(_ eid: EID, level: Double, since: MonotonicTime, isTap: Bool) {
        let isNew = plan.withLock {
            $0.enqueue(eid, level: level, since: since, isTap: isTap, at: .now)
        }
        if isNew { wake.yield() }
    }

    func removeFromQueue(_ eid: EID) { plan.withLock { $0.removeFromQueue(eid) } }

    func end(_ session: SessionID) -> [EID] { plan.withLock { $0.end(session, at: .now) } }

    /// Makes a query for which a person waits, and records its answer if there is one.
    private func ask(about eid: EID) async -> Answer<ResolveReply> {
        let askedAt = MonotonicTime.now
        let answer = await client.resolve(eid)
        let outcome = ResolvePlan.Outcome(answer)
        if case .unknown(nil) = outcome { return answer }
        plan.withLock { plan in
            plan.record(eid, outcome, isBackground: false, askedAt: askedAt, at: .now)
        }
        listener.withLock(\.self)?(eid)
        return answer
    }

    /// Waits for the answer to the background query in progress, if it is about this EID.
    private func joinQuery(about eid: EID) async {
        await withCheckedContinuation { waiter in
            let isQueried = query.withLock { current in
                guard current?.eid == eid else { return false }
                current?.waiters.append(waiter)
                return true
            }
            if !isQueried { waiter.resume() }
        }
    }

    /// Makes a background query and records the answer.
    ///
    /// - Returns: False if the task was cancelled during the query.
    private func answer(about eid: EID) async -> Bool {
        query.withLock { $0 = Query(eid: eid) }
        defer {
            for waiter in query.withLock({ $0.take()?.waiters ?? [] }) { waiter.resume() }
        }
        let isTap = plan.withLock { $0.isTap(eid) }
        let askedAt = MonotonicTime.now
        let outcome = ResolvePlan.Outcome(await resolve(eid, isTap: isTap))
        guard !Task.isCancelled else { return false }
        plan.withLock { $0.record(eid, outcome, askedAt: askedAt, at: .now) }
        if case .unknown = outcome { return true }
        listener.withLock(\.self)?(eid)
        return true
    }

    /// Makes a background query. A server with the first version of the API refuses a query that
    /// reports a tap. It is then asked again without the tap, and later queries report no tap.
    private func resolve(_ eid: EID, isTap: Bool) async -> Answer<ResolveReply> {
        let tap: PayerProximity? = isTap && reportsTaps.load(ordering: .relaxed) ? .tap : nil
        let answer = await client.resolve(eid, isBackground: true, proximity: tap)
        guard tap != nil, case .refused(let problem) = answer,
            problem.errorCode == .validationError
        else { return answer }
        reportsTaps.store(false, ordering: .relaxed)
        return await client.resolve(eid, isBackground: true)
    }

    /// Makes the queued queries until the daemon stops.
    func run() async {
        var nap: Task<Void, Never>?
        defer { nap?.cancel() }
        for await _ in wakes.cancelOnGracefulShutdown() {
            nap?.cancel()
            while !Task.isCancelled, let eid = plan.withLock({ $0.next(at: .now) }) {
                guard await answer(about: eid) else { return }
            }
            guard let wait = plan.withLock({ $0.wait(at: .now) }) else { continue }
            // Wakes the loop when the limits allow a query. A new EID may wake it before that.
            // SAFETY: the next round of the loop cancels the task, and so does the loop's end.
            nap = Task { [wake] in
                if (try? await Task.sleep(for: wait)) != nil { wake.yield() }
            }
        }
    }
}

extension ResolvePlan.Outcome {
    fileprivate init(_ answer: Answer<ResolveReply>) {
        switch answer {
        case .success(let reply): self = .session(ResolvedSession(reply))
        case .refused(let problem):
            self =
                switch problem.errorCode {
                case .notFound, .sessionPaid, .sessionCancelled, .sessionExpired: .noSession
                // Other refusals say nothing about the EID.
                default: .unknown(retryAfter: nil)  // SAFETY: no other code is about the EID.
                }
        case .unauthorized: self = .unknown(retryAfter: nil)
        case .unknown(let outage): self = .unknown(retryAfter: outage.retryAfter)
        }
    }
}

extension ResolvedSession {
    /// Converts the server's answer.
    init(_ reply: ResolveReply) {
        self.init(
            sid: reply.sid,
            amountCents: reply.amountCents.value,
            currency: reply.currency ?? .usd,
            payee: reply.payee.name,
            payeeID: reply.payeeID,
            memo: reply.memo,
            status: reply.status,
            expiresAt: reply.expiresAt,
            allowsTip: reply.allowsTip,
            places: reply.places
        )
    }
}
