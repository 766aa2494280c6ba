internal import GotchuCore
package import Ledger

extension RecordRule {
    /// The rules that `verify` checks for sessions.
    package static let sessions = RecordRule(
        kind: Session.kind,
        rule: "every session can be read, and was paid and refunded as it says (sessions)"
    ) { record, file in
        guard let session = try? Session(record) else {
            return "session \(record.id) cannot be read"
        }
        return session.broken(record, file).map { "session \(record.id): \($0)" }
    }
}

extension Session {
    fileprivate func broken(_ record: Record, _ file: RecordFile) -> String? {
        if self.record != record { return "its columns do not agree" }
        guard isNamed(by: file.names.filter { $0.until == nil }.map(\.text)) else {
            return "its EID is not the one name that stands for it"
        }
        return brokenPayment(file) ?? brokenRefunds(file)
    }

    /// The permanent unique names of the session. A session that is no share has the name of its
    /// EID. A paid share has the name of its place; if it was paid into a pot, it has none, because
    /// the transfer's step identifies the place. Other shares have none.
    private var names: [String] {
        guard let share else { return [Self.name(of: eid)] }
        guard status == .paid, share.stake == nil else { return [] }
        return [share.placeName]
    }

    /// Returns true if these are the session's names. Of one payer's places in a sale, only the
    /// first has a name.
    private func isNamed(by texts: [String]) -> Bool {
        guard let share, let payer, share.isSale else { return texts == names }
        return texts.isEmpty || texts == [Group.saleName(share.group, payer)]
    }

    private func brokenPayment(_ file: RecordFile) -> String? {
        let payments = file.transfers.filter { $0.kind == TransferKind.payment.name }
        guard case .paid(let payer, _) = state else {
            return payments.isEmpty ? nil : "it is \(status.rawValue), and a transfer paid it"
        }
        // The rule of groups checks the payments into a pot.
        if share?.stake != nil { return payments.isEmpty ? nil : "it was paid twice" }
        guard payments.count == 1, payments[0].has(paymentLines(from: payer))
        else { return "no transfer of \(total) from its payer paid it" }
        guard let answer = file.answer(to: payments[0]),
            let outcome = answer.decode(Pay.Outcome.self), answer.key.user == payer,
            answer.key.command == Pay.name,
            outcome.newBalance == payments[0].balance(of: payer),
            outcome.transfer == payments[0].key.id, outcome.tip == tip
        else { return "its payment is not what its key was answered with" }
        return nil
    }

    /// Returns the reason why the refunds are wrong; `nil` if they are right. The step of each
    /// refund contains the sum of refunds up to it, which must fit its amount.
    private func brokenRefunds(_ file: RecordFile) -> String? {
        let refunds = file.transfers.filter { $0.kind == TransferKind.refund.name }
            .sorted { $0.key.refunded < $1.key.refunded }
        guard case .paid(let payer, _) = state else {
            return refunds.isEmpty ? nil : "it is \(status.rawValue), and a transfer refunded it"
        }
        var total: Int64 = 0
        for refund in refunds {
            let amount = refund.key.refunded - total
            guard amount > 0, refund.has(refundLines(of: amount, after: total, to: payer)) else {
                return "transfer \(refund.key.step) does not refund \(amount) to its payer"
            }
            total = refund.key.refunded
            guard let answer = file.answer(to: refund),
                let outcome = answer.decode(RefundPayment.Outcome.self), answer.key.user == payee,
                answer.key.command == RefundPayment.name, outcome.amount == amount,
                outcome.tip == tip(inRefund: amount, total: total),
                outcome.total == total, outcome.transfer == refund.key.id,
                refund.balance(of: payee).map({ $0 == outcome.newBalance }) ?? true
            else { return "transfer \(refund.key.step) is not what its key was answered with" }
        }
        let expected = share?.isReturned == true ? refunded - self.total : refunded
        return total == expected ? nil : "refunded \(refunded), transfers \(total)"
    }
}

extension RecordFile {
    func answer(to transfer: Transfer) -> Answer? {
        answers.first { $0.transfer == transfer.key }
    }
}

extension Answer {
    func decode<Outcome: Decodable>(_ type: Outcome.Type) -> Outcome? {
        guard case .outcome(let json) = decision else { return nil }
        return try? decoded(from: json)
    }
}

extension Transfer {
    /// Returns true if its entries are exactly these.
    fileprivate func has(_ lines: [(account: Account.Key, amount: Int64)]) -> Bool {
        entries.count == lines.count
            && lines.allSatisfy { line in
                entries.contains { $0.account == line.account && $0.amount == line.amount }
            }
    }

    /// Returns the balance of a user after it; `nil` if it did not change.
    func balance(of user: UserID) -> Int64? {
        entries.first { $0.account.owner == .user(user) }?.balance
    }
}
