internal import GotchuCore
package import Ledger
package import Payments

/// A second implementation of the ledger's rules, in plain numbers. A deal is a session.
package struct ReferenceModel {
    package struct Deal: Equatable {
        package let payee: Int
        package let amount: Int64
        package let ends: Int64
        package var eid: Int
        /// `a` open, `l` locked, `p` paid, `t` expired, `c` cancelled.
        package var mark: Character = "a"
        package var holder: Int?
        package var lockEnds: Int64 = 0
        /// The tip; `nil` if the session allows none.
        package var tip: Int64?
        package var refunded: Int64 = 0
    }

    /// An answer, reduced to the values that tests compare.
    package enum Reply: Equatable {
        case user(Int)
        case deal(mark: Character, holder: Int?)
        case rotated(eid: Int, replaced: Int, until: Int64)
        case paid(left: Int64, tip: Int64? = nil, again: Bool)
        case refunded(amount: Int64, tip: Int64? = nil, total: Int64, left: Int64, again: Bool)
        case declined(Refusal.Reason, again: Bool)
        case no(Refusal.Reason)
    }

    /// The session of an EID, and the time until which the EID is valid if it was replaced.
    package struct Name: Equatable {
        package let session: Int
        package var until: Int64?

        package init(session: Int, until: Int64? = nil) {
            self.session = session
            self.until = until
        }
    }

    package var money: [Int: Int64] = [:]
    /// The payments to each user minus the refunds by the user.
    package var earned: [Int: Int64] = [:]
    package var deals: [Int: Deal] = [:]
    /// The bills and contests, by number. Their numbers differ from the numbers of deals.
    package var shared: [Int: Shared] = [:]
    package var names: [Int: Name] = [:]
    var replies: [String: (request: String, reply: Reply)] = [:]
    /// The balance of a new account.
    private let opening: Int64

    package init(opening: Int64 = Cast.opening) {
        self.opening = opening
    }

    package mutating func take(_ step: Step) -> Reply {
        switch step.action {
        case .open(let user):
            if money[user] == nil { money[user] = opening }
            return .user(user)
        case .create(let session, let payee, let amount, let seconds, let proposesTaken, let tips):
            guard money[payee] != nil else { return .no(.unknownUser) }
            let eids = proposesTaken ? [max(0, session - 1), session] : [session]
            guard let eid = eids.first(where: { names[$0] == nil }) else { return .no(.noFreeEID) }
            let ends = step.time + seconds * 1_000
            deals[session] = Deal(payee: payee, amount: amount, ends: ends, eid: eid)
            if tips { deals[session]?.tip = 0 }
            names[eid] = Name(session: session)
            return .deal(mark: "a", holder: nil)
        case .lock(let session, let user): return lock(session, user, step.time)
        case .unlock(let session, let user):
            guard let deal = now(session, step.time) else { return .no(.unknownSession) }
            if let over = over(deal) { return .no(over) }
            guard let holder = deal.holder else { return .no(.sessionNotLocked) }
            guard holder == user else { return .no(.forbidden) }
            return write(session, deal, "a", holder: nil)
        case .cancel(let session, let user):
            guard let deal = now(session, step.time) else { return .no(.unknownSession) }
            guard deal.payee == user else { return .no(.forbidden) }
            if deal.mark == "c" { return .deal(mark: "c", holder: nil) }
            if let over = over(deal) { return .no(over) }
            guard deal.holder == nil else { return .no(.sessionBusy) }
            return write(session, deal, "c", holder: nil)
        case .expire(let session):
            guard let deal = now(session, step.time) else { return .no(.unknownSession) }
            return write(session, deal, deal.mark, holder: deal.holder)
        case .rotate(let session, let user, let eid, let replaces):
            return rotate(session, user, eid, replaces, step.time)
        case .send(let session, let user, let key, let expected, let tip):
            return send(session, user, key, expected, tip, step.time)
        case .refund(let session, let user, let key, let amount):
            return refund(session, user, key, amount, step.time)
        case .shared(let action, let number, let user): return take(action, number, user)
        }
    }

    private mutating func lock(_ session: Int, _ user: Int, _ time: Int64) -> Reply {
        guard money[user] != nil else { return .no(.unknownUser) }
        guard var deal = now(session, time) else { return .no(.unknownSession) }
        guard deal.payee != user else { return .no(.ownSession) }
        if let over = over(deal) { return .no(over) }
        if let holder = deal.holder, holder != user { return .no(.sessionBusy) }
        if deal.holder == nil { deal.lockEnds = min(deal.ends, time + 60_000) }
        return write(session, deal, "l", holder: user)
    }

    private mutating func send(
        _ session: Int,
        _ user: Int,
        _ key: Int,
        _ expected: Int64?,
        _ tip: Int64,
        _ time: Int64
    ) -> Reply {
        let name = "\(user)/\(key)"
        let request = "\(session)/\(expected.map { String($0) } ?? "")/\(tip)"
        if let known = replies[name] {
            guard known.request == request else { return .no(.keyReused) }
            switch known.reply {
            case .paid(let left, let tip, _): return .paid(left: left, tip: tip, again: true)
            case .declined(let reason, _): return .declined(reason, again: true)
            case .user, .deal, .rotated, .refunded, .no: return known.reply
            }
        }
        guard let purse = money[user] else { return .no(.unknownUser) }
        if now(session, time)?.payee == user { return .no(.ownSession) }
        let reply: Reply
        if let why = whyNot(session, user, expected, tip, purse, time) {
            reply = .declined(why, again: false)
        } else if var deal = now(session, time) {
            let price = deal.amount + tip
            if deal.tip != nil { deal.tip = tip }
            money[user, default: 0] -= price
            money[deal.payee, default: 0] += price
            earned[deal.payee, default: 0] += price
            _ = write(session, deal, "p", holder: user)
            reply = .paid(left: purse - price, tip: deal.tip, again: false)
        } else {
            reply = .no(.unknownSession)
        }
        replies[name] = (request, reply)
        return reply
    }

    private func whyNot(
        _ session: Int,
        _ user: Int,
        _ expected: Int64?,
        _ tip: Int64,
        _ purse: Int64,
        _ time: Int64
    ) -> Refusal.Reason? {
        guard let deal = now(session, time) else { return .unknownSession }
        if let over = over(deal) { return over }
        guard let holder = deal.holder else { return .sessionNotLocked }
        guard holder == user else { return .sessionBusy }
        if let expected, expected != deal.amount { return .amountChanged }
        if tip > 0, deal.tip == nil { return .tipNotAllowed }
        return purse < deal.amount + tip ? .insufficientBalance : nil
    }

    /// Returns a deal as it is at a time, with expiry applied.
    package func now(_ session: Int, _ time: Int64) -> Deal? {
        guard var deal = deals[session] else { return nil }
        let isOpen = deal.mark == "a" || deal.mark == "l"
        if isOpen, deal.ends <= time {
            deal.mark = "t"
            deal.holder = nil
        } else if deal.mark == "l", deal.lockEnds <= time {
            deal.mark = "a"
            deal.holder = nil
        }
        return deal
    }

    func over(_ deal: Deal) -> Refusal.Reason? {
        switch deal.mark {
        case "p": .sessionPaid
        case "t": .sessionExpired
        case "c": .sessionCancelled
        default: nil
        }
    }

    mutating func write(
        _ session: Int,
        _ deal: Deal,
        _ mark: Character,
        holder: Int?
    ) -> Reply {
        var deal = deal
        deal.mark = mark
        deal.holder = holder
        deals[session] = deal
        return .deal(mark: mark, holder: holder)
    }
}

extension ReferenceModel.Reply {
    /// Creates the model's form of an answer of the ledger.
    package init(_ answer: StepAnswer) {
        switch answer.outcome {
        case .success(.user(let user)): self = .user(Self.number(of: user.id))
        case .success(.session(let session)): self = .deal(session)
        case .success(.rotation(let rotation)):
            self = .rotated(
                eid: Cast.eid(rotation.session.eid),
                replaced: Cast.eid(rotation.replaced),
                until: rotation.replacedUntil.milliseconds
            )
        case .success(.paid(let payment)):
            self = .paid(left: payment.newBalance, tip: payment.tip, again: answer.isReplay)
        case .success(.refunded(let refund)):
            self = .refunded(
                amount: refund.amount,
                tip: refund.tip,
                total: refund.total,
                left: refund.newBalance,
                again: answer.isReplay
            )
        case .success(.done): self = .user(-1)
        case .failure(let refusal):
            self =
                answer.isRemembered
                ? .declined(refusal.reason, again: answer.isReplay) : .no(refusal.reason)
        }
    }

    package static func deal(_ session: Session) -> Self {
        switch session.state {
        case .created: .deal(mark: "?", holder: nil)
        case .advertising: .deal(mark: "a", holder: nil)
        case .locked(let by, _): .deal(mark: "l", holder: number(of: by))
        case .paid(let by, _): .deal(mark: "p", holder: number(of: by))
        case .expired: .deal(mark: "t", holder: nil)
        case .cancelled: .deal(mark: "c", holder: nil)
        }
    }

    private static func number(of user: UserID) -> Int { Cast.users.firstIndex(of: user) ?? -1 }
}
