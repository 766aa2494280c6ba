package import GotchuCore
package import Payments
internal import Synchronization

@testable package import Ledger

/// A command of any type with its answer, for tests that decide or commit batches themselves.
package struct Submitted: Sendable {
    private final class Box: Sendable {
        let answer = Mutex<Result<StepAnswer, LedgerError>?>(nil)
    }

    package let submission: any Submission
    private let box = Box()

    package init<Command: LedgerCommand>(_ command: Command, at time: Timestamp) {
        submission = Pending(command, at: time) { [box] reply in
            box.answer.withLock { $0 = reply.map { StepAnswer($0) } }
        }
    }

    /// Creates a command with an idempotency key, whose answer the ledger remembers.
    package init<Command: KeyedCommand>(
        _ command: Command,
        as request: KeyedRequest,
        at time: Timestamp
    ) {
        submission = Pending(command, as: request, at: time) { [box] reply in
            box.answer.withLock { $0 = reply.map { StepAnswer($0) } }
        }
    }

    /// The newest answer; `nil` if another transaction had locked a row that the command needs.
    package var answer: StepAnswer? {
        _ = submission.succeed()
        return box.answer.withLock { try? $0?.get() }
    }
}

extension Batch {
    package init(_ submitted: [Submitted], tail: Seal? = nil, chain: String = Seal.newChain()) {
        self.init(submitted.map(\.submission), tail: tail, chain: chain)
    }
}

/// The answer to a command of any type.
package struct StepAnswer: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        case user(User)
        case session(Session)
        case rotation(Rotation)
        case paid(Pay.Outcome)
        case refunded(RefundPayment.Outcome)
        /// The outcome of any other command.
        case done
    }

    package let outcome: Result<Outcome, Refusal>
    /// The id of the request that was decided; for a replay, the id of the first request.
    package let requestID: String
    package let isReplay: Bool
    package let isRemembered: Bool

    package init<Value: Sendable>(_ reply: CommandReply<Value>) {
        outcome = reply.outcome.map { Outcome($0) }
        requestID = reply.requestID
        isReplay = reply.isReplay
        isRemembered = reply.isRemembered
    }

    /// The refusal, remembered or not.
    package var refusal: Refusal? {
        if case .failure(let refusal) = outcome { refusal } else { nil }
    }

    package var reason: Refusal.Reason? { refusal?.reason }

    package var user: User? { if case .success(.user(let user)) = outcome { user } else { nil } }

    package var session: Session? {
        if case .success(.session(let session)) = outcome { session } else { nil }
    }

    package var rotation: Rotation? {
        if case .success(.rotation(let rotation)) = outcome { rotation } else { nil }
    }

    package var payment: Pay.Outcome? {
        if case .success(.paid(let payment)) = outcome { payment } else { nil }
    }

    package var refund: RefundPayment.Outcome? {
        if case .success(.refunded(let refund)) = outcome { refund } else { nil }
    }
}

extension StepAnswer.Outcome {
    fileprivate init(_ value: some Sendable) {
        self =
            switch value as Any {
            case let user as User: .user(user)
            case let session as Session: .session(session)
            case let created as CreatedSession: .session(created.session)
            case let rotation as Rotation: .rotation(rotation)
            case let payment as Pay.Outcome: .paid(payment)
            case let refund as RefundPayment.Outcome: .refunded(refund)
            default: .done
            }
    }
}
