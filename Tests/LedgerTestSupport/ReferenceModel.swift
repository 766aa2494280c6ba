internal import GotchuCore
package import Ledger
package import Payments

/// A second implementation of the ledger's rules, in plain numbers.
package struct ReferenceModel {
    package struct ModelSession: Equatable {
        package let payee: Int
        package let amount: Int64
        package let ends: Int64
        package var eid: Int
        package var status = Status.advertising
        package var payer: Int?
        package var lockEnds: Int64 = 0
        /// The tip; `nil` if the session allows none.
        package var tip: Int64?
        package var refunded: Int64 = 0
    }

    /// The status of a session, bill or contest, or that of a user in a contest.
    package enum Status: Sendable {
        case created
        case advertising
        case locked
        case paid
        case expired
        case cancelled
        case joined
        case left
    }

    /// An answer, reduced to the values that tests compare.
    package enum Reply: Equatable {
        case user(Int)
        case session(status: Status, payer: Int?)
        case rotated(eid: Int, replaced: Int, until: Int64)
        case paid(newBalance: Int64, tip: Int64? = nil, isReplay: Bool)
        case refunded(
            amount: Int64,
            tip: Int64? = nil,
            total: Int64,
            newBalance: Int64,
            isReplay: Bool
        )
        case rememberedRefusal(Refusal.Reason, isReplay: Bool)
        case refused(Refusal.Reason)
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
    package var sessions: [Int: ModelSession] = [:]
    /// The bills and contests, by number. Their numbers differ from the numbers of sessions.
    package var shared: [Int: Shared] = [:]
    package var names: [Int: Name] = [:]
    var replies: [String: (request: String, reply: Reply)] = [:]
    /// The balance of a new account.
    private let opening: Int64

    package init(opening: Int64 = Cast.opening) {
        self.opening = opening
    }

    package mutating func apply(_ step: Step) -> Reply {
        switch step.action {
        case .open(let user):
            if money[user] == nil { money[user] = opening }
            return .user(user)
        case .create(let session, let payee, let amount, let seconds, let proposesTaken, let tips):
            guard money[payee] != nil else { return .refused(.unknownUser) }
            let eids = proposesTaken ? [max(0, session - 1), session] : [session]
            guard let eid = eids.first(where: { names[$0] == nil }) else {
                return .refused(.noFreeEID)
            }
            let ends = step.time + seconds * 1_000
            sessions[session] = ModelSession(payee: payee, amount: amount, ends: ends, eid: eid)
            if tips { sessions[session]?.tip = 0 }
            names[eid] = Name(session: session)
            return .session(status: .advertising, payer: nil)
        case .lock(let session, let user): return lock(session, user, step.time)
        case .unlock(let session, let user):
            guard let current = now(session, step.time) else { return .refused(.unknownSession) }
            if let reason = endReason(of: current) { return .refused(reason) }
            guard let payer = current.payer else { return .refused(.sessionNotLocked) }
            guard payer == user else { return .refused(.forbidden) }
            return write(session, current, .advertising, payer: nil)
        case .cancel(let session, let user):
            guard let current = now(session, step.time) else { return .refused(.unknownSession) }
            guard current.payee == user else { return .refused(.forbidden) }
            if current.status == .cancelled { return .session(status: .cancelled, payer: nil) }
            if let reason = endReason(of: current) { return .refused(reason) }
            guard current.payer == nil else { return .refused(.sessionBusy) }
            return write(session, current, .cancelled, payer: nil)
        case .expire(let session):
            guard let current = now(session, step.time) else { return .refused(.unknownSession) }
            return write(session, current, current.status, payer: current.payer)
        case .rotate(let session, let user, let eid, let replaces):
            return rotate(session, user, eid, replaces, step.time)
        case .send(let session, let user, let key, let expected, let tip):
            return send(session, user, key, expected, tip, step.time)
        case .refund(let session, let user, let key, let amount):
            return refund(session, user, key, amount, step.time)
        case .shared(let action, let number, let user): return apply(action, number, user)
        }
    }

    private mutating func lock(_ session: Int, _ user: Int, _ time: Int64) -> Reply {
        guard money[user] != nil else { return .refused(.unknownUser) }
        guard var current = now(session, time) else { return .refused(.unknownSession) }
        guard current.payee != user else { return .refused(.ownSession) }
        if let reason = endReason(of: current) { return .refused(reason) }
        if let payer = current.payer, payer != user { return .refused(.sessionBusy) }
        if current.payer == nil { current.lockEnds = min(current.ends, time + 60_000) }
        return write(session, current, .locked, payer: user)
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
            guard known.request == request else { return .refused(.keyReused) }
            switch known.reply {
            case .paid(let newBalance, let tip, _):
                return .paid(newBalance: newBalance, tip: tip, isReplay: true)
            case .rememberedRefusal(let reason, _):
                return .rememberedRefusal(reason, isReplay: true)
            case .user, .session, .rotated, .refunded, .refused: return known.reply
            }
        }
        guard let balance = money[user] else { return .refused(.unknownUser) }
        if now(session, time)?.payee == user { return .refused(.ownSession) }
        let reply: Reply
        if let reason = refusalReason(session, user, expected, tip, balance, time) {
            reply = .rememberedRefusal(reason, isReplay: false)
        } else if var current = now(session, time) {
            let price = current.amount + tip
            if current.tip != nil { current.tip = tip }
            money[user, default: 0] -= price
            money[current.payee, default: 0] += price
            earned[current.payee, default: 0] += price
            _ = write(session, current, .paid, payer: user)
            reply = .paid(newBalance: balance - price, tip: current.tip, isReplay: false)
        } else {
            reply = .refused(.unknownSession)
        }
        replies[name] = (request, reply)
        return reply
    }

    private func refusalReason(
        _ session: Int,
        _ user: Int,
        _ expected: Int64?,
        _ tip: Int64,
        _ balance: Int64,
        _ time: Int64
    ) -> Refusal.Reason? {
        guard let current = now(session, time) else { return .unknownSession }
        if let reason = endReason(of: current) { return reason }
        guard let payer = current.payer else { return .sessionNotLocked }
        guard payer == user else { return .sessionBusy }
        if let expected, expected != current.amount { return .amountChanged }
        if tip > 0, current.tip == nil { return .tipNotAllowed }
        return balance < current.amount + tip ? .insufficientBalance : nil
    }

    /// Returns a session as it is at a time, with expiry applied.
    package func now(_ session: Int, _ time: Int64) -> ModelSession? {
        guard var current = sessions[session] else { return nil }
        let isOpen = current.status == .advertising || current.status == .locked
        if isOpen, current.ends <= time {
            current.status = .expired
            current.payer = nil
        } else if current.status == .locked, current.lockEnds <= time {
            current.status = .advertising
            current.payer = nil
        }
        return current
    }

    func endReason(of current: ModelSession) -> Refusal.Reason? {
        switch current.status {
        case .paid: .sessionPaid
        case .expired: .sessionExpired
        case .cancelled: .sessionCancelled
        case .created, .advertising, .locked, .joined, .left: nil
        }
    }

    mutating func write(
        _ session: Int,
        _ current: ModelSession,
        _ status: Status,
        payer: Int?
    ) -> Reply {
        var current = current
        current.status = status
        current.payer = payer
        sessions[session] = current
        return .session(status: status, payer: payer)
    }
}

extension ReferenceModel.Reply {
    /// Creates the model's form of an answer of the ledger.
    package init(_ answer: StepAnswer) {
        switch answer.outcome {
        case .success(.user(let user)): self = .user(Self.number(of: user.id))
        case .success(.session(let session)): self = .session(session)
        case .success(.rotation(let rotation)):
            self = .rotated(
                eid: Cast.eid(rotation.session.eid),
                replaced: Cast.eid(rotation.replaced),
                until: rotation.replacedUntil.milliseconds
            )
        case .success(.paid(let payment)):
            self = .paid(
                newBalance: payment.newBalance,
                tip: payment.tip,
                isReplay: answer.isReplay
            )
        case .success(.refunded(let refund)):
            self = .refunded(
                amount: refund.amount,
                tip: refund.tip,
                total: refund.total,
                newBalance: refund.newBalance,
                isReplay: answer.isReplay
            )
        case .success(.done): self = .user(-1)
        case .failure(let refusal):
            self =
                answer.isRemembered
                ? .rememberedRefusal(refusal.reason, isReplay: answer.isReplay)
                : .refused(refusal.reason)
        }
    }

    package static func session(_ session: Session) -> Self {
        switch session.state {
        case .created: .session(status: .created, payer: nil)
        case .advertising: .session(status: .advertising, payer: nil)
        case .locked(let by, _): .session(status: .locked, payer: number(of: by))
        case .paid(let by, _): .session(status: .paid, payer: number(of: by))
        case .expired: .session(status: .expired, payer: nil)
        case .cancelled: .session(status: .cancelled, payer: nil)
        }
    }

    private static func number(of user: UserID) -> Int { Cast.users.firstIndex(of: user) ?? -1 }
}
