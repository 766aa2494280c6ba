import GotchuCore
import Ledger
import LedgerTestSupport

/// Books in memory and a clock that a test sets, for decisions told one by one.
struct Rig {
    var books = MemoryBooks()
    /// Milliseconds.
    var time: Int64 = 1_000
    private var number = 0

    /// The three users with ten cents each.
    init() {
        for user in 0..<3 { _ = take(.open(user: user)) }
    }

    @discardableResult
    mutating func take(_ action: Step.Action) -> Answer {
        number += 1
        return decide(Step(time: time, action: action).command(number: number))
    }

    mutating func decide(_ command: Command) -> Answer {
        let decision = apply([command], to: books.load(Footprint([command])))
        books.save(decision.effects)
        return decision.answers[0]
    }

    /// Brings session 0 of user 0 into a state, for 5 cents and 300 seconds; user 1 is its payer.
    mutating func bring(to status: SessionStatus) {
        take(.create(session: 0, payee: 0, amount: 5, seconds: 300, proposesTaken: false))
        switch status {
        case .created, .advertising: break
        case .locked: take(.lock(session: 0, user: 1))
        case .paid:
            take(.lock(session: 0, user: 1))
            take(.send(session: 0, user: 1, key: 2, expected: nil))
        case .timeout: time += 300_000
        case .cancelled: take(.cancel(session: 0, user: 0))
        }
    }

    func balance(of user: Int) -> Int64? {
        books.rows.wallets[Wallet.Place(owner: .user(Cast.users[user]), currency: .usd)]?.balance
    }
}

extension Answer {
    /// Why it is a "no", remembered or not.
    var reason: Refusal.Reason? {
        switch self {
        case .refused(let refusal): return refusal.reason
        case .send(let answer):
            if case .declined(let refusal) = answer.send.outcome { return refusal.reason }
            return nil
        case .refund(let answer):
            if case .declined(let refusal) = answer.refund.outcome { return refusal.reason }
            return nil
        case .user, .session, .rotation, .done, .held: return nil
        }
    }

    var session: Session? {
        if case .session(let session) = self { session } else { nil }
    }

    var rotation: Rotation? {
        if case .rotation(let rotation) = self { rotation } else { nil }
    }

    var refund: RefundAnswer? {
        if case .refund(let answer) = self { answer } else { nil }
    }

    var send: SendAnswer? {
        if case .send(let answer) = self { answer } else { nil }
    }
}
