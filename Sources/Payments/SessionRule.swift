internal import GotchuCore
package import Ledger

extension RecordRule {
    /// The rules that `verify` checks for sessions.
    package static let sessions = RecordRule(
        kind: Session.kind,
        rule: "every session can be read, and its transfers match its state (sessions)"
    ) { record, rows in
        guard let session = try? Session(record) else {
            return "session \(record.id) cannot be read"
        }
        return session.violation(record, rows).map { "session \(record.id): \($0)" }
    }
}

extension Session {
    fileprivate func violation(_ record: Record, _ rows: RecordRows) -> String? {
        if self.record != record { return "its row differs from what the server writes" }
        let found = rows.names.filter { $0.until == nil }.map(\.text)
        guard isNamed(by: found) else {
            return "its current names are \(found), expected \(names)"
        }
        return paymentViolation(rows) ?? refundViolation(rows)
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

    private func paymentViolation(_ rows: RecordRows) -> String? {
        let payments = rows.transfers.filter { $0.kind == TransferKind.payment.name }
        guard case .paid(let payer, _) = state else {
            return payments.isEmpty
                ? nil : "its state is \(status.rawValue), but it has a payment transfer"
        }
        // The rule of groups checks the payments into a pot.
        if share?.stake != nil {
            return payments.isEmpty
                ? nil : "it was paid into a pot, but also has a payment transfer"
        }
        guard payments.count == 1 else {
            return "it is paid, but has \(payments.count) payment transfers"
        }
        guard payments[0].has(paymentLines(from: payer)) else {
            return "its payment transfer does not pay \(total) from its payer to its payee"
        }
        guard let answer = rows.answer(to: payments[0]),
            let outcome = answer.decode(Pay.Outcome.self), answer.key.user == payer,
            answer.key.command == Pay.name,
            outcome.newBalance == payments[0].balance(of: payer),
            outcome.transfer == payments[0].key.id, outcome.tip == tip
        else { return "its payment transfer does not match its answer" }
        return nil
    }

    /// Returns the reason why the refunds are wrong; `nil` if they are right. The step of each
    /// refund contains the sum of refunds up to it, which must fit its amount.
    private func refundViolation(_ rows: RecordRows) -> String? {
        let refunds = rows.transfers.filter { $0.kind == TransferKind.refund.name }
            .sorted { $0.key.refunded < $1.key.refunded }
        guard case .paid(let payer, _) = state else {
            return refunds.isEmpty
                ? nil : "its state is \(status.rawValue), but it has a refund transfer"
        }
        var total: Int64 = 0
        for refund in refunds {
            let amount = refund.key.refunded - total
            guard amount > 0, refund.has(refundLines(of: amount, after: total, to: payer)) else {
                return "transfer \(refund.key.step) does not refund \(amount) to its payer"
            }
            total = refund.key.refunded
            guard let answer = rows.answer(to: refund),
                let outcome = answer.decode(RefundPayment.Outcome.self), answer.key.user == payee,
                answer.key.command == RefundPayment.name, outcome.amount == amount,
                outcome.tip == tip(inRefund: amount, total: total),
                outcome.total == total, outcome.transfer == refund.key.id,
                refund.balance(of: payee).map({ $0 == outcome.newBalance }) ?? true
            else { return "transfer \(refund.key.step) does not match its answer" }
        }
        let expected = share?.isReturned == true ? refunded - self.total : refunded
        return total == expected
            ? nil : "its refunded amount is \(expected), but its transfers refund \(total)"
    }
}

extension RecordRows {
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
