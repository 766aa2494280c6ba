import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import ServiceLifecycle

/// Carries out what `PaymentFlow` decides for one payment, step by step, until it has ended.
struct PaymentDriver {
    /// The longest life of a session. Its end is never judged by the wall clock, which may differ
    /// from the server's.
    static let longestSession: Duration = .seconds(300)

    let id: String
    let service: PaymentService

    func run() async {
        guard var record = await service.record(id) else { return }
        var flow = PaymentFlow(
            stage: record.stage == .locking ? .locking : .sending(isUncertain: true),
            isKeyDerived: record.attempt != nil
        )
        let begun = MonotonicTime.now
        var event = PaymentFlow.Event.started
        var mayHoldLock = record.stage == .sending
        var doubt = Doubt.noAnswer
        while true {
            let action = flow.handle(event, jitter: .random(in: 0..<1))
            if case .finish(let end) = action { return await service.finish(id, end) }
            guard let now = await service.record(id), now.isOpen else {
                // The person has cancelled it: nothing more is sent.
                if mayHoldLock { await unlock(record) }
                return
            }
            record = now
            switch action {
            case .finish: continue
            case .lock, .send, .lookUp:
                // What an interruption would leave behind is in the journal: stop between two
                // steps.
                guard !isStopping else { return }
                event = await ask(action, record, &doubt)
                if case .lockAnswered(let answer) = event, answer.mayBeDone { mayHoldLock = true }
            case .journalSending:
                event = await journal(&doubt) { $0.stage = .sending }
            case .journalNextKey:
                event = await journal(&doubt) { $0.takeNextKey() }
            case .journalEnd(let end):
                if case .declined = end, mayHoldLock {
                    // Given back before anybody is told: a second try must find it free.
                    await unlock(record)
                    mayHoldLock = false
                }
                event = await journal(&doubt) { $0.end(end) }
            case .wait(let duration):
                await service.note(id, doubt)
                guard await pause(duration) else { return }
                let isOver = MonotonicTime.now - begun >= Self.longestSession
                event = flow.stage == .locking && isOver ? .expired : .waited
            }
        }
    }

    /// Lets another payer in at once, instead of when the lock ends by itself.
    private func unlock(_ record: PaymentRecord) async {
        guard record.refund == nil else { return }
        _ = await client(of: record).unlock(record.sid)
    }

    /// Asks the server, unless that could be a second payment: the key protects one wallet and one
    /// server from paying twice, so that nothing is sent as somebody else or to another server.
    ///
    /// - Parameter doubt: What the answer leaves open, if it does.
    private func ask(
        _ action: PaymentFlow.Action,
        _ record: PaymentRecord,
        _ doubt: inout Doubt
    ) async -> PaymentFlow.Event {
        let answer: PaymentAnswer
        if service.client.server.description != record.server {
            doubt = .otherServer
            answer = .unknown(retryAfter: nil)
        } else if service.tokens.identity != record.payer {
            doubt = .otherLogin
            answer = .unknown(retryAfter: nil)
        } else if action == .lookUp {
            // A look that brings nothing leaves the doubt that it was to end.
            return .lookedUp(await lookUp(record))
        } else {
            answer = action == .lock ? await lock(record) : await send(record)
            doubt = Doubt(answer) ?? doubt
        }
        switch action {
        case .lock: return .lockAnswered(answer)
        case .lookUp: return .lookedUp(answer)
        default: return .sendAnswered(answer)  // SAFETY: of the others only `send` asks.
        }
    }

    /// Carries no other user's token, also if the login changes before the call leaves.
    private func client(of record: PaymentRecord) -> PaymentClient {
        service.client.using(service.access.only(of: record.payer))
    }

    private func lock(_ record: PaymentRecord) async -> PaymentAnswer {
        // A refund needs no lock: the session was paid to nobody else.
        if record.refund != nil { return .done(Receipt()) }
        return await client(of: record).lock(record.sid).paymentAnswer { _ in Receipt() }
    }

    private func lookUp(_ record: PaymentRecord) async -> PaymentAnswer {
        // A refund can only be asked about by asking for it again.
        guard record.refund == nil else { return .unknown(retryAfter: nil) }
        return await client(of: record).sendOutcome(of: record.key).paymentAnswer
    }

    private func send(_ record: PaymentRecord) async -> PaymentAnswer {
        let body = Array(record.body.utf8)
        if record.refund != nil {
            let answer = await client(of: record).refund(record.sid, body: body, key: record.key)
            return answer.paymentAnswer { reply in
                Receipt(
                    newBalanceCents: reply.newBalanceCents.value,
                    transferID: reply.transferID,
                    tipCents: reply.tipCents?.value,
                    wasMadeBefore: reply.isReplay ? true : nil
                )
            }
        }
        let answer = await client(of: record).send(body: body, key: record.key)
        return answer.paymentAnswer { reply in
            Receipt(
                newBalanceCents: reply.newBalanceCents.value,
                transferID: reply.transferID
            )
        }
    }

    /// Writes how far the payment has come; of one that was cancelled meanwhile, nothing.
    private func journal(
        _ doubt: inout Doubt,
        _ change: @Sendable (inout PaymentRecord) -> Void
    ) async -> PaymentFlow.Event {
        do throws(JournalFailure) {
            try await service.advance(id, change)
            return .journalled
        } catch {
            service.logger.error(
                "A payment could not be journalled",
                metadata: ["payment": "\(id)", "reason": "\(error.sentence)"]
            )
            doubt = .journal
            return .journalFailed
        }
    }

    /// The backoff between two tries, as `PaymentFlow` decided it; a stop ends it at once.
    ///
    /// - Returns: `false` if the daemon stops meanwhile.
    private func pause(_ duration: Duration) async -> Bool {
        // A server that could not answer tells nobody when it can again.
        await cancelWhenGracefulShutdown { await service.pause(id, for: duration) }
        return !isStopping
    }

    private var isStopping: Bool { Task.isCancelled || Task.isShuttingDownGracefully }
}
