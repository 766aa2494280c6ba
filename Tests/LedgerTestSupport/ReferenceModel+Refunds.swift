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
            guard known.request == request else { return .refused(.keyReused) }
            switch known.reply {
            case .refunded(let amount, let tip, let total, let newBalance, _):
                return .refunded(
                    amount: amount,
                    tip: tip,
                    total: total,
                    newBalance: newBalance,
                    isReplay: true
                )
            case .rememberedRefusal(let reason, _):
                return .rememberedRefusal(reason, isReplay: true)
            case .user, .session, .rotated, .paid, .refused: return known.reply
            }
        }
        guard let balance = money[user] else { return .refused(.unknownUser) }
        let current = now(session, time)
        if let current, current.payee != user { return .refused(.forbidden) }
        let reply: Reply
        if let reason = refusalReason(current, amount, balance) {
            reply = .rememberedRefusal(reason, isReplay: false)
        } else if var current, let payer = current.payer {
            let back = amount ?? current.amount + (current.tip ?? 0) - current.refunded
            // The amount is refunded first, and the tip last.
            let price = min(back, max(0, current.amount - current.refunded))
            current.refunded += back
            sessions[session] = current
            money[user, default: 0] -= back
            earned[user, default: 0] -= back
            money[payer, default: 0] += back
            reply = .refunded(
                amount: back,
                tip: current.tip.map { _ in back - price },
                total: current.refunded,
                newBalance: balance - back,
                isReplay: false
            )
        } else {
            reply = .refused(.unknownSession)
        }
        replies[name] = (request, reply)
        return reply
    }

    private func refusalReason(
        _ current: ModelSession?,
        _ amount: Int64?,
        _ balance: Int64
    ) -> Refusal.Reason? {
        guard let current else { return .unknownSession }
        guard current.status == .paid else { return .sessionNotPaid }
        let rest = current.amount + (current.tip ?? 0) - current.refunded
        if rest == 0 { return .sessionRefunded }
        if let amount, amount > rest { return .refundTooLarge }
        return balance < amount ?? rest ? .insufficientBalance : nil
    }
}
