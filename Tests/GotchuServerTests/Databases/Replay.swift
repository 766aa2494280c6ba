import Ledger
import LedgerTestSupport

/// The beginning of a possible order of the calls: the model after these calls, and the remaining
/// calls.
struct Replay {
    /// The time of every call in the model: no session expires during a test.
    private static let time: Int64 = 1_000

    /// A call that can be next.
    struct Move {
        let call: RecordedCall
        let reply: ReferenceModel.Reply
        let after: ReferenceModel
    }

    private let booked: BookedHistory
    /// The ids of sessions, bills and contests; the index of an id is its number.
    private let sids: [String]
    private(set) var model: ReferenceModel
    /// The remaining calls with a reply, sorted by start time.
    private(set) var rest: [RecordedCall]
    /// The remaining calls without a reply, which may have taken effect.
    private(set) var open: [RecordedCall]
    /// The number of entries of each user that the calls in the order have made.
    private(set) var explained: [Int: Int] = [:]

    init(
        _ calls: [RecordedCall],
        booked: BookedHistory,
        sids: [String],
        users: Int,
        opening: Int64
    ) {
        self.booked = booked
        self.sids = sids
        rest = calls.filter { $0.reply != nil }
        open = calls.filter { $0.reply == nil }
        model = ReferenceModel(opening: opening)
        for user in 0..<users { _ = model.apply(Step(time: Self.time, action: .open(user: user))) }
    }

    /// The numbers of the remaining calls. They identify the state: every order of the other calls
    /// leads to the same model.
    var left: [Int] { rest.map(\.number) + open.map(\.number) }

    /// The remaining calls with a reply that began before any remaining reply arrived. Their times
    /// allow each of them to be next.
    var candidates: ArraySlice<RecordedCall> {
        let horizon = horizon
        return rest.prefix { $0.began <= horizon ?? $0.began }
    }

    /// The time of the earliest reply among the remaining calls.
    private var horizon: ContinuousClock.Instant? { rest.compactMap(\.ended).min() }

    func modelReply(to call: RecordedCall) -> (reply: ReferenceModel.Reply, after: ReferenceModel) {
        var after = model
        let reply = after.apply(Step(time: Self.time, action: call.action))
        return (reply, after)
    }

    mutating func apply(_ move: Move) {
        if !move.reply.changesNothing {
            for entry in entries(of: move.call) ?? [] { explained[entry.user, default: 0] += 1 }
        }
        model = move.after
        rest.removeAll { $0.number == move.call.number }
        open.removeAll { $0.number == move.call.number }
    }

    /// Returns a call that can be next and does not change the reply to any other remaining call.
    func safeMove() -> Move? {
        for call in candidates {
            if let move = move(of: call), isSafe(move) { return move }
        }
        return nil
    }

    /// Returns all calls that can be next: first the calls with a reply, by the time of the reply,
    /// then the calls without.
    func moves() -> [Move] {
        let answered = candidates.compactMap(move).sorted { first, second in
            guard let end = first.call.ended else { return false }
            return second.call.ended.map { end < $0 } ?? true
        }
        return answered + openMoves()
    }

    private func move(of call: RecordedCall) -> Move? {
        let (reply, after) = modelReply(to: call)
        guard call.agrees(with: reply), isTrueAmount(call, reply),
            reply.changesNothing || isNext(call)
        else { return nil }
        return Move(call: call, reply: reply, after: after)
    }

    /// Returns the calls without a reply that can be next and would have an effect. A call without
    /// a key and without entries is returned only if a candidate is on the same session.
    private func openMoves() -> [Move] {
        let horizon = horizon
        let sessions = Set(candidates.compactMap(\.action.session))
        return open.compactMap { call in
            guard call.began <= horizon ?? call.began, let session = call.action.session,
                call.action.order != nil || sessions.contains(session)
                    || entries(of: call)?.isEmpty == false
            else { return nil }
            let (reply, after) = modelReply(to: call)
            guard !reply.changesNothing,
                after.sessions != model.sessions || after.shared != model.shared, isNext(call)
            else { return nil }
            return Move(call: call, reply: reply, after: after)
        }
    }

    /// Returns false if a refusal because of too little money has another balance than the model.
    private func isTrueAmount(_ call: RecordedCall, _ reply: ReferenceModel.Reply) -> Bool {
        guard reply.isInsufficientBalance, let available = call.reply?.available,
            let user = call.action.user
        else { return true }
        return model.money[user] == available
    }

    /// Returns true if each entry of a call is the next entry of its wallet.
    private func isNext(_ call: RecordedCall) -> Bool {
        guard let made = entries(of: call) else { return false }
        return made.allSatisfy { entry in
            let entries = booked.entries[entry.user] ?? []
            let next = explained[entry.user, default: 0]
            return next < entries.count && entries[next] == entry.transfer
        }
    }

    /// An entry in a user's wallet.
    private struct Entry {
        let user: Int
        let transfer: String
    }

    /// Returns the entries that a call makes; `nil` if the database has no transfer for its key.
    private func entries(of call: RecordedCall) -> [Entry]? {
        if case .shared(let action, let session, let user) = call.action {
            guard let shared = model.shared[session] else { return [] }
            return entries(of: action, shared, session, user)
        }
        guard let order = call.action.order else { return [] }
        guard let transfer = booked.transfers[order], let session = call.action.session,
            let paid = model.sessions[session],
            let other = order.isRefund ? paid.payer : paid.payee
        else { return nil }
        return [order.user, other].map { Entry(user: $0, transfer: transfer) }
    }

    private func entries(
        of action: SharedAction,
        _ shared: ReferenceModel.Shared,
        _ session: Int,
        _ user: Int
    ) -> [Entry]? {
        let end = BookedHistory.transfer(sids[session], "end")
        func own() -> String? {
            action.key.flatMap { booked.transfers[.init(user: user, key: $0, isRefund: false)] }
        }
        switch action {
        case .bill, .contest, .claim: return []
        case .pay:
            let isLast = shared.paid.count == shared.places - 1
            guard let transfer = own() else { return nil }
            let taken = Entry(user: user, transfer: transfer)
            guard shared.isPooled else {
                return [taken, Entry(user: shared.owner, transfer: transfer)]
            }
            return isLast ? [taken, Entry(user: shared.owner, transfer: end)] : [taken]
        case .join, .leave: return own().map { [Entry(user: user, transfer: $0)] }
        case .close, .callOff:
            guard shared.isPooled, !shared.isCancelled else { return [] }
            return shared.paid.map { Entry(user: $0, transfer: end) }
        }
    }

    /// Returns true if this call does not change the reply to any other remaining call. Then any
    /// valid order of the remaining calls stays valid if this call is moved to its front.
    private func isSafe(_ move: Move) -> Bool {
        let end = move.call.ended
        let isEarly = { (call: RecordedCall) in call.began <= end ?? call.began }
        let owners =
            move.reply.changesNothing ? [] : (entries(of: move.call) ?? []).map(\.user)
        return !(rest.prefix(while: isEarly) + open.filter(isEarly)).contains { other in
            other.number != move.call.number && dependsOn(other, move, owners)
        }
    }

    /// Returns true if the reply to another call may depend on the order of that call and `move`.
    private func dependsOn(_ other: RecordedCall, _ move: Move, _ owners: [Int]) -> Bool {
        if let order = other.action.order, order == move.call.action.order { return true }
        guard !move.reply.changesNothing else { return false }
        if let user = other.action.user, owners.contains(user),
            other.reply?.content.asFirst.isInsufficientBalance == true
        {
            // No other call can change the wallet before this call, because this call's transfer is
            // the wallet's next entry.
            return other.reply?.available.map { $0 == model.money[user] } ?? true
        }
        guard other.action.session == move.call.action.session else { return false }
        let reply = modelReply(to: other).reply
        guard let recorded = other.reply else { return !reply.changesNothing }
        // If the model does not give the other call its reply now, then this call or another
        // candidate must come before the other call.
        return recorded.content.movesMoney || other.agrees(with: reply)
    }
}

extension ReferenceModel.Reply {
    /// A Boolean that is true for a refusal because of too little money that is not a repeat.
    fileprivate var isInsufficientBalance: Bool {
        self == .rememberedRefusal(.insufficientBalance, isReplay: false)
    }

    fileprivate var movesMoney: Bool {
        switch self {
        case .paid, .refunded, .session(status: .joined, _), .session(status: .left, _): true
        case .user, .session, .rotated, .rememberedRefusal, .refused: false
        }
    }
}

extension Step.Action {
    var session: Int? {
        switch self {
        case .create(let session, _, _, _, _, _), .lock(let session, _), .unlock(let session, _),
            .cancel(let session, _), .rotate(let session, _, _, _), .send(let session, _, _, _, _),
            .refund(let session, _, _, _), .expire(let session), .shared(_, let session, _):
            session
        case .open: nil
        }
    }

    var user: Int? {
        switch self {
        case .open(let user), .create(_, let user, _, _, _, _), .lock(_, let user),
            .unlock(_, let user), .cancel(_, let user), .rotate(_, let user, _, _),
            .send(_, let user, _, _, _), .refund(_, let user, _, _), .shared(_, _, let user):
            user
        case .expire: nil
        }
    }

    /// The user and key of an action with an idempotency key; `nil` for other actions.
    var order: BookedHistory.Order? {
        switch self {
        case .send(_, let user, let key, _, _): .init(user: user, key: key, isRefund: false)
        case .refund(_, let user, let key, _): .init(user: user, key: key, isRefund: true)
        case .shared(let action, _, let user):
            action.key.map { .init(user: user, key: $0, isRefund: false) }
        case .open, .create, .lock, .unlock, .cancel, .rotate, .expire: nil
        }
    }
}
