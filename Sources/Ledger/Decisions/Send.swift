package import GotchuCore

/// A payer pays the session he has locked.
package struct Send: Equatable, Sendable {
    package let key: SendKey
    package let fingerprint: Fingerprint
    package let session: SessionID
    /// What the payer saw, in minor units, if he said.
    package let expectedAmount: Int64?
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
        expectedAmount: Int64?,
        transfer: TransferID = .make(),
        requestID: String
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.session = session
        self.expectedAmount = expectedAmount
        self.transfer = transfer
        self.requestID = requestID
    }

    /// The key is looked at first, so that a resend gets its answer whatever has happened since.
    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        if let known = books.rows.sends[key] {
            guard known.fingerprint == fingerprint else { return .refused(Refusal(.keyReused)) }
            return .send(SendAnswer(send: known, isReplay: true))
        }
        guard books.rows.knows(key.user) else { return .refused(Refusal(.unknownUser)) }
        let outcome: RememberedSend.Outcome
        switch payment(on: books, at: time) {
        case .failure(let refusal) where refusal.reason == .ownSession:
            // Who may do what is not a decision about money: it is asked again each time.
            return .refused(refusal)
        case .failure(let refusal)
        where refusal.reason == .unknownSession && !remembersUnknownSession:
            return .refused(refusal)
        case .failure(let refusal):
            outcome = .declined(refusal)
        case .success(let payment):
            pay(payment, on: &books, at: time)
            outcome = .paid(transfer, newBalance: payment.balanceAfter)
        }
        let decided = RememberedSend(
            key: key,
            fingerprint: fingerprint,
            session: session,
            outcome: outcome,
            requestID: requestID,
            decidedAt: time
        )
        books.remember(decided)
        return .send(SendAnswer(send: decided, isReplay: false))
    }

    private struct Payment {
        let session: Session
        let source: Wallet
        let destination: Wallet

        var balanceAfter: Int64 { source.balance - session.amount.minorUnits }
    }

    private enum Verdict {
        case success(Payment)
        case failure(Refusal)

        static func no(_ reason: Refusal.Reason) -> Verdict { .failure(Refusal(reason)) }
    }

    private func payment(on books: Books, at time: Timestamp) -> Verdict {
        guard let session = books.rows.sessions[session]?.settled(at: time) else {
            return .no(.unknownSession)
        }
        guard session.payee != key.user else { return .no(.ownSession) }
        switch session.state {
        case .locked(key.user, _): break
        case .locked: return .no(.sessionBusy)
        case .created, .advertising: return .no(.sessionNotLocked)
        case .paid: return .no(.sessionPaid)
        case .timedOut: return .no(.sessionExpired)
        case .cancelled: return .no(.sessionCancelled)
        }
        let amount = session.amount
        if let expectedAmount, expectedAmount != amount.minorUnits { return .no(.amountChanged) }
        let payer = Wallet.Place(owner: .user(key.user), currency: amount.currency)
        let payee = Wallet.Place(owner: .user(session.payee), currency: amount.currency)
        guard let source = books.rows.wallets[payer], source.balance >= amount.minorUnits else {
            let available = books.rows.wallets[payer]?.balance ?? 0
            let required = amount.minorUnits
            return .failure(
                Refusal(.insufficientBalance, required: required, available: available)
            )
        }
        guard let destination = books.rows.wallets[payee] else { return .no(.noWalletInCurrency) }
        let (_, overflows) = destination.balance.addingReportingOverflow(amount.minorUnits)
        guard !overflows else { return .no(.balanceTooLarge) }
        return .success(Payment(session: session, source: source, destination: destination))
    }

    private func pay(_ payment: Payment, on books: inout Books, at time: Timestamp) {
        books.transfer(
            transfer,
            kind: .payment,
            amount: payment.session.amount,
            from: payment.source,
            to: payment.destination,
            order: Transfer.Order(key: key, session: session),
            at: time
        )
        books.put(payment.session.changed(to: .paid(by: key.user, at: time)), at: time)
    }
}
