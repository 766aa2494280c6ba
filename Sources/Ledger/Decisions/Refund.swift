package import GotchuCore

/// A payee gives back what a session was paid, whole or in part: never more than was paid.
package struct Refund: Equatable, Sendable {
    package let key: SendKey
    package let fingerprint: Fingerprint
    package let session: SessionID
    /// In minor units, positive; `nil` for all that has not gone back yet.
    package let amount: Int64?
    /// A name for the transfer, should there be one.
    package let transfer: TransferID
    package let requestID: String
    /// True if a refusal for an unknown session is remembered under the key; otherwise the session
    /// is looked up again each time.
    package var remembersUnknownSession = true

    package init(
        key: SendKey,
        fingerprint: Fingerprint,
        session: SessionID,
        amount: Int64?,
        transfer: TransferID = .make(),
        requestID: String
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.session = session
        self.amount = amount
        self.transfer = transfer
        self.requestID = requestID
    }

    /// The key is looked at first, so that a resend gets its answer whatever has happened since.
    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        if let known = books.rows.refunds[key] {
            guard known.fingerprint == fingerprint else { return .refused(Refusal(.keyReused)) }
            return .refund(RefundAnswer(refund: known, isReplay: true))
        }
        guard books.rows.knows(key.user) else { return .refused(Refusal(.unknownUser)) }
        let outcome: RememberedRefund.Outcome
        switch repayment(on: books, at: time) {
        case .failure(let refusal) where refusal.reason == .forbidden:
            // Who may do what is not a decision about money: it is asked again each time.
            return .refused(refusal)
        case .failure(let refusal)
        where refusal.reason == .unknownSession && !remembersUnknownSession:
            return .refused(refusal)
        case .failure(let refusal):
            outcome = .declined(refusal)
        case .success(let repayment):
            outcome = .refunded(pay(repayment, on: &books, at: time))
        }
        let decided = RememberedRefund(
            key: key,
            fingerprint: fingerprint,
            session: session,
            outcome: outcome,
            requestID: requestID,
            decidedAt: time
        )
        books.remember(decided)
        return .refund(RefundAnswer(refund: decided, isReplay: false))
    }

    private struct Repayment {
        let session: Session
        let amount: Money
        let source: Wallet
        let destination: Wallet
    }

    private enum Verdict {
        case success(Repayment)
        case failure(Refusal)

        static func no(_ reason: Refusal.Reason) -> Verdict { .failure(Refusal(reason)) }
    }

    private func repayment(on books: Books, at time: Timestamp) -> Verdict {
        guard let session = books.rows.sessions[session]?.settled(at: time) else {
            return .no(.unknownSession)
        }
        guard session.payee == key.user else { return .no(.forbidden) }
        guard case .paid(let payer, _) = session.state else { return .no(.sessionNotPaid) }
        let rest = session.amount.minorUnits - session.refunded
        guard rest > 0 else { return .no(.sessionRefunded) }
        let amount = amount ?? rest
        guard amount <= rest else { return .no(.refundTooLarge) }
        let currency = session.amount.currency
        let from = Wallet.Place(owner: .user(session.payee), currency: currency)
        let to = Wallet.Place(owner: .user(payer), currency: currency)
        guard let source = books.rows.wallets[from], source.balance >= amount else {
            let available = books.rows.wallets[from]?.balance ?? 0
            return .failure(Refusal(.insufficientBalance, required: amount, available: available))
        }
        guard let destination = books.rows.wallets[to] else { return .no(.noWalletInCurrency) }
        let (_, overflows) = destination.balance.addingReportingOverflow(amount)
        guard !overflows else { return .no(.balanceTooLarge) }
        return .success(
            Repayment(
                session: session,
                amount: Money(minorUnits: amount, currency: currency),
                source: source,
                destination: destination
            )
        )
    }

    private func pay(
        _ repayment: Repayment,
        on books: inout Books,
        at time: Timestamp
    ) -> RememberedRefund.Made {
        books.transfer(
            transfer,
            kind: .refund,
            amount: repayment.amount,
            from: repayment.source,
            to: repayment.destination,
            order: nil,
            at: time
        )
        let amount = repayment.amount.minorUnits
        let refunded = repayment.session.refunded(by: amount)
        books.put(refunded, at: time)
        return RememberedRefund.Made(
            transfer: transfer,
            amount: amount,
            total: refunded.refunded,
            newBalance: repayment.source.balance - amount
        )
    }
}
