internal import Ledger

/// Refunds.
extension ReferenceModel {
    mutating func refund(
        _ session: Int,
        _ user: Int,
        _ key: Int,
        _ amount: Int64?,
        _ time: Int64
    ) -> Reply {
        let name = "refund \(user)/\(key)"
        let request = "\(session)/\(amount.map { String($0) } ?? "")"
        if let known = replies[name] {
            guard known.request == request else { return .no(.keyReused) }
            switch known.reply {
            case .refunded(let amount, let tip, let total, let left, _):
                return .refunded(amount: amount, tip: tip, total: total, left: left, again: true)
            case .declined(let reason, _): return .declined(reason, again: true)
            case .user, .deal, .rotated, .paid, .no: return known.reply
            }
        }
        guard let purse = money[user] else { return .no(.unknownUser) }
        let deal = now(session, time)
        if let deal, deal.payee != user { return .no(.forbidden) }
        let reply: Reply
        if let why = whyNot(deal, amount, purse) {
            reply = .declined(why, again: false)
        } else if var deal, let payer = deal.holder {
            let back = amount ?? deal.amount + (deal.tip ?? 0) - deal.refunded
            // The amount is refunded first, and the tip last.
            let price = min(back, max(0, deal.amount - deal.refunded))
            deal.refunded += back
            deals[session] = deal
            money[user, default: 0] -= back
            earned[user, default: 0] -= back
            money[payer, default: 0] += back
            reply = .refunded(
                amount: back,
                tip: deal.tip.map { _ in back - price },
                total: deal.refunded,
                left: purse - back,
                again: false
            )
        } else {
            reply = .no(.unknownSession)
        }
        replies[name] = (request, reply)
        return reply
    }

    private func whyNot(_ deal: Deal?, _ amount: Int64?, _ purse: Int64) -> Refusal.Reason? {
        guard let deal else { return .unknownSession }
        guard deal.mark == "p" else { return .sessionNotPaid }
        let rest = deal.amount + (deal.tip ?? 0) - deal.refunded
        if rest == 0 { return .sessionRefunded }
        if let amount, amount > rest { return .refundTooLarge }
        return purse < amount ?? rest ? .insufficientBalance : nil
    }
}
