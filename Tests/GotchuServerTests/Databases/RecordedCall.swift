import GotchuAPI
import Ledger
import LedgerTestSupport

/// The reply to one call of a client.
struct RecordedReply: Equatable, Sendable {
    /// The reply in the model's terms.
    var content: ReferenceModel.Reply
    /// The balance in the reply, if the wallet had too little money.
    var available: Int64?
    /// A Boolean that is true if earlier attempts at the call got no reply. They may have taken
    /// effect.
    var isRetry: Bool
}

/// One call of a client: the action, its start and end, and the reply.
struct RecordedCall: Sendable, CustomStringConvertible {
    let action: Step.Action
    let began: ContinuousClock.Instant
    /// The time at which the reply arrived.
    var ended: ContinuousClock.Instant?
    /// The reply; `nil` if none arrived. The call may then have taken effect at any time after its
    /// start, or never.
    var reply: RecordedReply?
    /// The call's index in the history, sorted by start time.
    var number = 0

    var description: String {
        guard let reply else { return "\(action) got no reply" }
        let available = reply.available.map { " of \($0)" } ?? ""
        return "\(action) got \(reply.content)\(available)\(reply.isRetry ? ", a retry" : "")"
    }

    /// Returns true if the reply equals the model's. For a retry, the mark of a repeated answer
    /// does not count.
    func agrees(with expected: ReferenceModel.Reply) -> Bool {
        guard let reply else { return false }
        guard reply.isRetry else { return reply.content == expected }
        return reply.content.asFirst == expected.asFirst
    }
}

extension ReferenceModel.Reply {
    /// The same reply without the mark of a repeated answer.
    var asFirst: Self {
        switch self {
        case .paid(let left, let tip, _): .paid(newBalance: left, tip: tip, isReplay: false)
        case .refunded(let amount, let tip, let total, let left, _):
            .refunded(amount: amount, tip: tip, total: total, newBalance: left, isReplay: false)
        case .rememberedRefusal(let reason, _): .rememberedRefusal(reason, isReplay: false)
        case .user, .session, .rotated, .refused: self
        }
    }

    /// A Boolean that is true if the call changed neither money nor a session, bill or contest.
    var changesNothing: Bool {
        switch self {
        case .refused, .rememberedRefusal: true
        case .paid(_, _, let again), .refunded(_, _, _, _, let again): again
        case .user, .session, .rotated: false
        }
    }
}

extension RecordedReply {
    private static let reasons: [ErrorCode: Refusal.Reason] = [
        .sessionBusy: .sessionBusy, .sessionNotLocked: .sessionNotLocked,
        .sessionPaid: .sessionPaid, .sessionCancelled: .sessionCancelled,
        .sessionExpired: .sessionExpired, .insufficientWalletBalance: .insufficientBalance,
        .idempotencyKeyReused: .keyReused, .sessionRefunded: .sessionRefunded,
        .refundTooLarge: .refundTooLarge, .sessionNotPaid: .sessionNotPaid,
        .contestFull: .contestFull, .contestCancelled: .contestCancelled,
        .alreadyJoined: .alreadyJoined, .notJoined: .notJoined,
    ]

    /// Converts the server's reply to the model's. Returns `nil` for an error that is not a
    /// refusal.
    static func read(_ wire: WireReply, to action: Step.Action, isRetry: Bool) -> Self? {
        let again = wire.headers["idempotent-replayed"] == "true"
        guard wire.status == 200 else {
            let code = wire.code.flatMap { ErrorCode(rawValue: $0) }
            guard let reply = code.flatMap({ no($0, to: action, again: again) }) else { return nil }
            return Self(
                content: reply,
                available: wire.integer("available_cents"),
                isRetry: isRetry
            )
        }
        return yes(wire, to: action, again: again).map { Self(content: $0, isRetry: isRetry) }
    }

    private static func yes(
        _ wire: WireReply,
        to action: Step.Action,
        again: Bool
    ) -> ReferenceModel.Reply? {
        let tip = wire.integer("tip_cents")
        switch action {
        case .lock(_, let user): return .session(status: .locked, payer: user)
        case .cancel: return .session(status: .cancelled, payer: nil)
        case .send:
            return wire.integer("new_balance_cents").map {
                .paid(newBalance: $0, tip: tip, isReplay: again)
            }
        case .refund:
            guard let amount = wire.integer("amount_cents"),
                let total = wire.integer("refunded_cents"),
                let left = wire.integer("new_balance_cents")
            else { return nil }
            return .refunded(
                amount: amount,
                tip: tip,
                total: total,
                newBalance: left,
                isReplay: again
            )
        case .shared(let action, _, let user): return yes(wire, to: action, user, again: again)
        case .open, .create, .unlock, .rotate, .expire: return nil
        }
    }

    private static func yes(
        _ wire: WireReply,
        to action: SharedAction,
        _ user: Int,
        again: Bool
    ) -> ReferenceModel.Reply? {
        switch action {
        case .claim: .session(status: .locked, payer: user)
        case .pay: wire.integer("new_balance_cents").map { .paid(newBalance: $0, isReplay: again) }
        case .join: .session(status: .joined, payer: user)
        case .leave: .session(status: .left, payer: user)
        case .close, .callOff: .session(status: .cancelled, payer: nil)
        case .bill, .contest: nil
        }
    }

    /// Converts the code of a refusal. Returns `nil` for the code of any other error.
    static func no(
        _ code: ErrorCode,
        to action: Step.Action,
        again: Bool
    ) -> ReferenceModel.Reply? {
        guard let reason = reasons[code] else { return nil }
        switch action {
        case .send where reason != .keyReused, .refund where reason != .keyReused:
            return .rememberedRefusal(reason, isReplay: again)
        case .shared(let action, _, _) where action.key != nil:
            return .rememberedRefusal(reason, isReplay: again)
        case .open, .create, .lock, .unlock, .cancel, .rotate, .send, .refund, .expire, .shared:
            return .refused(reason)
        }
    }
}
