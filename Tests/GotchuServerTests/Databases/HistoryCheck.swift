import Ledger
import LedgerTestSupport

/// Replays a whole history through the model, in the manner of Jepsen: it must be possible to put
/// all calls in one order, in which a call that was answered stands before every one that began
/// later, and each wallet's payments and refunds stand as its entries are numbered, so that the
/// model, taking them one by one, gives every answer that was given.
///
/// Answers that change nothing are taken as soon as they fit, which never hinders another. Of those
/// that change something the order is settled by the entries, or by what they are: a session is
/// locked by one payer and cancelled once. So nothing has to be tried twice.
struct HistoryCheck {
    /// Sessions last longer than a test.
    private static let time: Int64 = 1_000

    private var model: ReferenceModel
    private let booked: BookedHistory
    /// The names of sessions, by their numbers.
    private let sids: [String]
    /// What was answered, by when it began.
    private var rest: [Deed]
    /// What may have been carried out or not.
    private var open: [Deed]
    /// How many of a user's entries are explained.
    private var explained: [Int: Int] = [:]

    private init(
        _ deeds: [Deed],
        booked: BookedHistory,
        sids: [String],
        users: Int,
        opening: Int64
    ) {
        self.booked = booked
        self.sids = sids
        rest = deeds.filter { $0.told != nil }.sorted { $0.began < $1.began }
        open = deeds.filter { $0.told == nil }.sorted { $0.began < $1.began }
        model = ReferenceModel(opening: opening)
        for user in 0..<users { _ = model.take(Step(time: Self.time, action: .open(user: user))) }
    }

    /// What is wrong; `nil` if nothing is.
    ///
    /// - Parameters:
    ///   - deeds: All calls that may have done anything.
    ///   - users: How many there are, each with `opening` at first.
    static func complaint(
        about deeds: [Deed],
        booked: BookedHistory,
        sids: [String],
        users: Int,
        opening: Int64
    ) -> String? {
        var check = HistoryCheck(
            deeds,
            booked: booked,
            sids: sids,
            users: users,
            opening: opening
        )
        return check.replay() ?? check.end()
    }

    private mutating func replay() -> String? {
        while !rest.isEmpty {
            let horizon = rest.compactMap(\.ended).min()
            let isEarly = { (deed: Deed) in horizon.map { deed.began <= $0 } ?? true }
            let candidates = Array(rest.prefix(while: isEarly).indices)
            if takeOne(of: candidates, changing: false) || takeOne(of: candidates, changing: true) {
                continue
            }
            let sessions = Set(candidates.compactMap { rest[$0].action.session })
            if takeOpen(of: sessions, isEarly) { continue }
            let stuck = candidates.map { "\(rest[$0]), model \(said(to: rest[$0]).reply)" }
            return "no order explains: \(stuck.joined(separator: "; "))"
        }
        return nil
    }

    private func said(to deed: Deed) -> (reply: ReferenceModel.Reply, after: ReferenceModel) {
        var after = model
        let reply = after.take(Step(time: Self.time, action: deed.action))
        return (reply, after)
    }

    private mutating func takeOne(of candidates: [Int], changing: Bool) -> Bool {
        for index in candidates {
            let deed = rest[index]
            let (reply, after) = said(to: deed)
            guard deed.agrees(with: reply), reply.changesNothing != changing,
                isTrueAmount(deed, reply), !changing || isNext(deed, reply)
            else { continue }
            model = after
            rest.remove(at: index)
            return true
        }
        return false
    }

    /// Whether a payer who had too little was told what he had.
    private func isTrueAmount(_ deed: Deed, _ reply: ReferenceModel.Reply) -> Bool {
        guard reply == .declined(.insufficientBalance, again: false),
            let available = deed.told?.available, let user = deed.action.user
        else { return true }
        return model.money[user] == available
    }

    /// Whether a transfer is the next in both of its wallets; it is explained then.
    private mutating func isNext(_ deed: Deed, _ reply: ReferenceModel.Reply) -> Bool {
        guard let order = deed.action.order, let session = deed.action.session,
            let deal = model.deals[session]
        else { return true }
        let other = order.isRefund ? deal.holder : deal.payee
        guard let transfer = booked.transfers[order], let other else { return false }
        for user in [order.user, other] {
            let entries = booked.entries[user] ?? []
            let next = explained[user, default: 0]
            guard next < entries.count, entries[next] == transfer else { return false }
        }
        for user in [order.user, other] { explained[user, default: 0] += 1 }
        return true
    }

    /// Takes a call that was never answered, if it does something and helps one of the sessions.
    private mutating func takeOpen(of sessions: Set<Int>, _ isEarly: (Deed) -> Bool) -> Bool {
        for (index, deed) in open.enumerated() where isEarly(deed) {
            guard let session = deed.action.session, sessions.contains(session) else { continue }
            let (reply, after) = said(to: deed)
            guard !reply.changesNothing, after.deals != model.deals else { continue }
            model = after
            open.remove(at: index)
            return true
        }
        return false
    }

    /// What the books hold in the end must be what the model does.
    private func end() -> String? {
        for (user, entries) in booked.entries where explained[user, default: 0] < entries.count {
            return "user \(user): nobody asked for \(entries[explained[user, default: 0]])"
        }
        for (user, money) in model.money where booked.balances[user] != money {
            return "user \(user) has \(booked.balances[user] ?? -1), model \(money)"
        }
        for (number, deal) in model.deals {
            guard number < sids.count, let session = booked.sessions[sids[number]] else {
                return "session \(number) is gone"
            }
            let isPaid = deal.mark == "p"
            guard (session.status == "PAID") == isPaid, session.refunded == deal.refunded,
                !isPaid || session.payer == deal.holder,
                deal.mark != "c" || session.status == "CANCEL"
            else { return "session \(number) is \(session), model \(deal)" }
        }
        return nil
    }
}

extension Step.Action {
    var session: Int? {
        switch self {
        case .create(let session, _, _, _, _), .lock(let session, _), .unlock(let session, _),
            .cancel(let session, _), .rotate(let session, _, _, _), .send(let session, _, _, _),
            .refund(let session, _, _, _), .expire(let session):
            session
        case .open: nil
        }
    }

    var user: Int? {
        switch self {
        case .open(let user), .create(_, let user, _, _, _), .lock(_, let user),
            .unlock(_, let user), .cancel(_, let user), .rotate(_, let user, _, _),
            .send(_, let user, _, _), .refund(_, let user, _, _):
            user
        case .expire: nil
        }
    }

    /// Of what moves money.
    var order: BookedHistory.Order? {
        switch self {
        case .send(_, let user, let key, _): .init(user: user, key: key, isRefund: false)
        case .refund(_, let user, let key, _): .init(user: user, key: key, isRefund: true)
        case .open, .create, .lock, .unlock, .cancel, .rotate, .expire: nil
        }
    }
}
