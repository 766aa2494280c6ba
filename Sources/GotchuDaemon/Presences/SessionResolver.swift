import GotchuAPI
import GotchuCore
import PaymentClient
import ServiceLifecycle
import Synchronization

/// Resolves the EIDs nearby at the payment server, one at a time (`ResolvePlan`).
final class SessionResolver: Sendable {
    private let client: PaymentClient
    private let plan = Mutex(ResolvePlan())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(client: PaymentClient) {
        self.client = client
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The session of an EID, by an answer that is still fresh or by the server's now.
    ///
    /// One payment asks once, however many steps of it need the answer.
    func resolve(_ eid: EID) async -> Answer<ResolvedSession> {
        if let session = plan.withLock({ $0.freshSession(of: eid, at: .now) }) {
            return .success(session)
        }
        let answer = await client.resolve(eid).map(ResolvedSession.init)
        if case .success(let session) = answer {
            plan.withLock { $0.record(eid, .session(session), at: .now) }
        }
        return answer
    }

    /// The session of an EID as far as it is known, without asking.
    func cached(_ eid: EID) -> ResolvedSession? { plan.withLock { $0.session(of: eid) } }

    /// All sessions that are known.
    var known: [EID: ResolvedSession] { plan.withLock(\.sessions) }

    /// The server's answer about an EID; that it is nobody's holds only while the answer is fresh.
    func standing(of eid: EID) -> Presence.Standing {
        plan.withLock { plan in
            if let session = plan.session(of: eid) { return .session(session.sid) }
            return plan.isNobodys(eid, at: .now) ? .nobodys : .unknown
        }
    }

    /// Has an EID resolved soon, unless an answer is still fresh.
    ///
    /// - Parameters:
    ///   - level: In dBm.
    ///   - since: The time at which it was first heard.
    func want(_ eid: EID, level: Double, since: MonotonicTime) {
        if plan.withLock({ $0.want(eid, level: level, since: since, at: .now) }) { wake.yield() }
    }

    /// Cancels a question whose turn has not come.
    func forget(_ eid: EID) { plan.withLock { $0.forget(eid) } }

    /// Records that a session has ended.
    ///
    /// - Returns: Its EIDs, as far as they are known.
    func end(_ session: SessionID) -> [EID] { plan.withLock { $0.end(session, at: .now) } }

    /// Asks, until the daemon stops.
    ///
    /// - Parameter onAnswer: Called with each EID that the server has answered about.
    func run(_ onAnswer: @Sendable (EID) async -> Void) async {
        var nap: Task<Void, Never>?
        defer { nap?.cancel() }
        for await _ in wakes.cancelOnGracefulShutdown() {
            nap?.cancel()
            while !Task.isCancelled, let eid = plan.withLock({ $0.next(at: .now) }) {
                let outcome = ResolvePlan.Outcome(await client.resolve(eid, isBackground: true))
                guard !Task.isCancelled else { return }
                plan.withLock { $0.record(eid, outcome, at: .now) }
                switch outcome {
                case .session, .nobodys: await onAnswer(eid)
                case .unknown: break
                }
            }
            guard let wait = plan.withLock({ $0.wait(at: .now) }) else { continue }
            // Until the plan allows a question; a new EID may be asked about before that.
            // SAFETY: the next round cancels it, and so does the end.
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
                case .notFound, .sessionPaid, .sessionCancelled, .sessionExpired: .nobodys
                // It says nothing about the EID.
                default: .unknown(retryAfter: nil)  // SAFETY: as every other code does not.
                }
        case .unauthorized: self = .unknown(retryAfter: nil)
        case .unknown(let outage): self = .unknown(retryAfter: outage.retryAfter)
        }
    }
}

extension ResolvedSession {
    /// The server's answer in the daemon's own words.
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
            allowsTip: reply.allowsTip
        )
    }
}
