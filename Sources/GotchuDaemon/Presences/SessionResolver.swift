import GotchuAPI
import GotchuCore
import PaymentClient
import ServiceLifecycle
import Synchronization

/// Asks the payment server what the EIDs nearby stand for, politely: one question at a time, each
/// EID once, and again only after an answer has grown old.
final class SessionResolver: Sendable {
    /// How many EIDs wait to be resolved; more are not worth asking about now.
    static let queueLimit = 16
    /// How many answers are remembered.
    static let memoryLimit = 256
    /// After a "no such session" or no answer, this EID is not asked about for so long.
    static let negativeLifetime: Duration = .seconds(10)
    /// After this long an answer is asked for again when the EID is still wanted.
    static let lifetime: Duration = .seconds(60)

    private let client: PaymentClient
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private struct State {
        var queue: [EID] = []
        var answers: [EID: Answered] = [:]
    }

    private struct Answered {
        let session: ResolvedSession?
        let validUntil: MonotonicTime
    }

    init(client: PaymentClient) {
        self.client = client
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What is known of an EID, without asking.
    func cached(_ eid: EID) -> ResolvedSession? {
        state.withLock { $0.answers[eid]?.session }
    }

    /// Everything that is known.
    var known: [EID: ResolvedSession] {
        state.withLock { $0.answers.compactMapValues(\.session) }
    }

    /// Has an EID resolved soon, unless an answer is still fresh.
    func want(_ eid: EID) {
        let now = MonotonicTime.now
        let isNew = state.withLock { state in
            if let answer = state.answers[eid], answer.validUntil > now { return false }
            guard state.queue.count < Self.queueLimit, !state.queue.contains(eid) else {
                return false
            }
            state.queue.append(eid)
            return true
        }
        if isNew { wake.yield() }
    }

    /// Asks, until the daemon stops.
    ///
    /// - Parameter onAnswer: Told each EID that was resolved.
    func run(_ onAnswer: @Sendable (EID) async -> Void) async {
        for await _ in wakes.cancelOnGracefulShutdown() {
            while let eid = state.withLock({ $0.queue.first }) {
                let answer = await client.resolve(eid)
                guard !Task.isCancelled else { return }
                let session: ResolvedSession? =
                    if case .success(let reply) = answer { ResolvedSession(reply) } else { nil }
                remember(session, for: eid)
                if session != nil { await onAnswer(eid) }
            }
        }
    }

    private func remember(_ session: ResolvedSession?, for eid: EID) {
        let now = MonotonicTime.now
        state.withLock { state in
            state.queue.removeAll { $0 == eid }
            if state.answers.count >= Self.memoryLimit {
                state.answers = state.answers.filter { $0.value.validUntil > now }
            }
            guard state.answers.count < Self.memoryLimit else { return }
            let lifetime = session == nil ? Self.negativeLifetime : Self.lifetime
            state.answers[eid] = Answered(session: session, validUntil: now + lifetime)
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
            memo: reply.memo,
            status: reply.status,
            expiresAt: reply.expiresAt
        )
    }
}
