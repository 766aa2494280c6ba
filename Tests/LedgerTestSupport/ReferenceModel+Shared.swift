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

    /// The key of a call that may move money; `nil` for another call.
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

        fileprivate var over: Refusal.Reason? {
            isPaid ? .sessionPaid : isCancelled ? .sessionCancelled : nil
        }
    }

    mutating func take(_ action: SharedAction, _ number: Int, _ user: Int) -> Reply {
        switch action {
        case .bill(let share, let places, let isPooled):
            shared[number] = Shared(
                owner: user,
                price: share,
                places: places,
                isContest: false,
                isPooled: isPooled
            )
            return .deal(mark: "a", holder: nil)
        case .contest(let fee, let places):
            shared[number] = Shared(
                owner: user,
                price: fee,
                places: places,
                isContest: true,
                isPooled: true
            )
            return .deal(mark: "a", holder: nil)
        case .claim, .pay, .close, .join, .leave, .callOff:
            guard var now = shared[number] else { return .no(.unknownSession) }
            let reply = take(action, &now, user)
            shared[number] = now
            return reply
        }
    }

    private mutating func take(_ action: SharedAction, _ now: inout Shared, _ user: Int) -> Reply {
        switch action {
        case .bill, .contest: return .no(.unknownSession)
        case .claim:
            if let over = now.over { return .no(over) }
            if now.holders.contains(user) { return .deal(mark: "l", holder: user) }
            if now.paid.contains(user) { return .no(.sessionPaid) }
            if now.isFull { return .no(.sessionBusy) }
            now.holders.insert(user)
            return .deal(mark: "l", holder: user)
        case .pay: return pay(&now, user)
        case .close:
            if now.isCancelled { return .deal(mark: "c", holder: nil) }
            if let over = now.over { return .no(over) }
            if !now.holders.isEmpty { return .no(.sessionBusy) }
            return cancel(&now)
        case .join:
            if now.isCancelled { return .declined(.contestCancelled, again: false) }
            if now.paid.contains(user) { return .declined(.alreadyJoined, again: false) }
            if now.isFull { return .declined(.contestFull, again: false) }
            if money[user, default: 0] < now.price {
                return .declined(.insufficientBalance, again: false)
            }
            money[user, default: 0] -= now.price
            now.paid.insert(user)
            return .deal(mark: "j", holder: user)
        case .leave:
            if !now.paid.contains(user) { return .declined(.notJoined, again: false) }
            if now.isCancelled { return .declined(.contestCancelled, again: false) }
            money[user, default: 0] += now.price
            now.paid.remove(user)
            return .deal(mark: "o", holder: user)
        case .callOff: return now.isCancelled ? .deal(mark: "c", holder: nil) : cancel(&now)
        }
    }

    private mutating func pay(_ now: inout Shared, _ user: Int) -> Reply {
        if let over = now.over { return .declined(over, again: false) }
        guard now.holders.contains(user) else {
            let reason: Refusal.Reason =
                now.paid.contains(user) ? .sessionPaid : .sessionNotLocked
            return .declined(reason, again: false)
        }
        let purse = money[user, default: 0]
        if purse < now.price { return .declined(.insufficientBalance, again: false) }
        money[user] = purse - now.price
        now.holders.remove(user)
        now.paid.insert(user)
        let due = now.isPooled ? now.isPaid ? now.price * Int64(now.places) : 0 : now.price
        money[now.owner, default: 0] += due
        return .paid(left: purse - now.price, again: false)
    }

    private mutating func cancel(_ now: inout Shared) -> Reply {
        now.isCancelled = true
        if now.isPooled { for user in now.paid { money[user, default: 0] += now.price } }
        return .deal(mark: "c", holder: nil)
    }
}
