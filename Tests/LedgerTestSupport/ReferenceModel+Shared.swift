internal import Ledger

/// A call about a bill or a contest, which several users pay. Each key belongs to one user and one
/// call.
package enum SharedAction: Equatable, Sendable {
    /// A bill of equal shares. The payee of a pooled bill gets all shares or none.
    case bill(share: Int64, places: Int, isPooled: Bool)
    case claim
    case pay(key: Int)
    case close
    case contest(fee: Int64, places: Int)
    case join(key: Int)
    case leave(key: Int)
    case callOff(key: Int)

    /// The number of the call's idempotency key; `nil` for a call without a fixed key.
    package var key: Int? {
        switch self {
        case .pay(let key), .join(let key), .leave(let key), .callOff(let key): key
        case .bill, .claim, .close, .contest: nil
        }
    }
}

/// Bills and contests.
extension ReferenceModel {
    package struct Shared: Equatable {
        package let owner: Int
        package let price: Int64
        package let places: Int
        package let isContest: Bool
        /// A Boolean that is true if the money stays in the pot until the end, as in every contest.
        package let isPooled: Bool
        package var holders: Set<Int> = []
        package var paid: Set<Int> = []
        package var isCancelled = false

        /// A Boolean that is true for a bill whose shares are all paid.
        package var isPaid: Bool { !isContest && paid.count == places }
        var isFull: Bool { holders.count + paid.count >= places }

        fileprivate var endReason: Refusal.Reason? {
            isPaid ? .sessionPaid : isCancelled ? .sessionCancelled : nil
        }
    }

    mutating func apply(_ action: SharedAction, _ number: Int, _ user: Int) -> Reply {
        switch action {
        case .bill(let share, let places, let isPooled):
            shared[number] = Shared(
                owner: user,
                price: share,
                places: places,
                isContest: false,
                isPooled: isPooled
            )
            return .session(status: .advertising, payer: nil)
        case .contest(let fee, let places):
            shared[number] = Shared(
                owner: user,
                price: fee,
                places: places,
                isContest: true,
                isPooled: true
            )
            return .session(status: .advertising, payer: nil)
        case .claim, .pay, .close, .join, .leave, .callOff:
            guard var now = shared[number] else { return .refused(.unknownSession) }
            let reply = apply(action, &now, user)
            shared[number] = now
            return reply
        }
    }

    private mutating func apply(_ action: SharedAction, _ now: inout Shared, _ user: Int) -> Reply {
        switch action {
        case .bill, .contest: return .refused(.unknownSession)
        case .claim:
            if let reason = now.endReason { return .refused(reason) }
            if now.holders.contains(user) { return .session(status: .locked, payer: user) }
            if now.paid.contains(user) { return .refused(.sessionPaid) }
            if now.isFull { return .refused(.sessionBusy) }
            now.holders.insert(user)
            return .session(status: .locked, payer: user)
        case .pay: return pay(&now, user)
        case .close:
            if now.isCancelled { return .session(status: .cancelled, payer: nil) }
            if let reason = now.endReason { return .refused(reason) }
            if !now.holders.isEmpty { return .refused(.sessionBusy) }
            return cancel(&now)
        case .join:
            if now.isCancelled { return .rememberedRefusal(.contestCancelled, isReplay: false) }
            if now.paid.contains(user) {
                return .rememberedRefusal(.alreadyJoined, isReplay: false)
            }
            if now.isFull { return .rememberedRefusal(.contestFull, isReplay: false) }
            if money[user, default: 0] < now.price {
                return .rememberedRefusal(.insufficientBalance, isReplay: false)
            }
            money[user, default: 0] -= now.price
            now.paid.insert(user)
            return .session(status: .joined, payer: user)
        case .leave:
            if !now.paid.contains(user) { return .rememberedRefusal(.notJoined, isReplay: false) }
            if now.isCancelled { return .rememberedRefusal(.contestCancelled, isReplay: false) }
            money[user, default: 0] += now.price
            now.paid.remove(user)
            return .session(status: .left, payer: user)
        case .callOff:
            if now.isCancelled { return .session(status: .cancelled, payer: nil) }
            return cancel(&now)
        }
    }

    private mutating func pay(_ now: inout Shared, _ user: Int) -> Reply {
        if let reason = now.endReason { return .rememberedRefusal(reason, isReplay: false) }
        guard now.holders.contains(user) else {
            let reason: Refusal.Reason =
                now.paid.contains(user) ? .sessionPaid : .sessionNotLocked
            return .rememberedRefusal(reason, isReplay: false)
        }
        let balance = money[user, default: 0]
        if balance < now.price { return .rememberedRefusal(.insufficientBalance, isReplay: false) }
        money[user] = balance - now.price
        now.holders.remove(user)
        now.paid.insert(user)
        let due = now.isPooled ? now.isPaid ? now.price * Int64(now.places) : 0 : now.price
        money[now.owner, default: 0] += due
        return .paid(newBalance: balance - now.price, isReplay: false)
    }

    private mutating func cancel(_ now: inout Shared) -> Reply {
        now.isCancelled = true
        if now.isPooled { for user in now.paid { money[user, default: 0] += now.price } }
        return .session(status: .cancelled, payer: nil)
    }
}
