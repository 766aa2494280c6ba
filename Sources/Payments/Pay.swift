package import GotchuCore
package import Ledger

extension TransferKind {
    /// The kind of transfer that pays a session.
    package static let payment = TransferKind(
        "PAYMENT",
        from: [.user],
        to: [.user, .houseOf(.take)],
        steps: .once("paid"),
        debitName: "SEND_P2P",
        creditName: "RECEIVE_P2P",
        earner: .receiver,
        isAnswered: true
    )

    /// The kind of transfer for a refund, full or partial, by the payee.
    package static let refund = TransferKind(
        "REFUND",
        from: [.user, .houseOf(.take)],
        to: [.user],
        steps: .numbered("refund"),
        debit: .refund,
        credit: .refund,
        debitName: "SEND_REFUND",
        creditName: "RECEIVE_REFUND",
        earner: .sender,
        isAnswered: true
    )
}

/// Pays a session that the payer has locked.
package struct Pay: KeyedCommand {
    package static let name = "pay"

    package let session: SessionID
    package let payer: UserID
    /// The amount that the payer saw, in minor units, if the client sent it.
    package let expectedAmount: Int64?
    /// The tip in addition to the amount, in minor units.
    package let tip: Int64
    private let share: ShareClaim?

    package init(
        session: SessionID,
        payer: UserID,
        expectedAmount: Int64?,
        tip: Int64 = 0,
        purposes: GroupPurposes = .splits
    ) {
        self.session = session
        self.payer = payer
        self.expectedAmount = expectedAmount
        self.tip = tip
        share = ShareClaim(session, by: payer, purposes)
    }

    package var record: RecordID { RecordID(session) }

    /// The outcome of a payment.
    package struct Outcome: Codable, Equatable, Sendable {
        package let transfer: String
        /// The payer's balance after it, in minor units.
        package let newBalance: Int64
        /// The session's tip.
        package let tip: Int64?
        /// The share, if it bought a place of another record. The transfer then belongs to that
        /// record.
        package var share: SessionID?
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.owners.insert(.user(payer))
        if let share { return share.touch(&footprint, knowing: rows, isPaying: true) }
        footprint.records.insert(RecordID(session))
        footprint.ownedRecords.insert(RecordID(session))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Outcome {
        if let share {
            let paid = try share.pay(
                expectedAmount: expectedAmount,
                tip: tip,
                on: &books,
                at: time
            )
            return Outcome(
                transfer: paid.transfer.key.id,
                newBalance: books.balance(of: payer, in: paid.share.amount.currency),
                tip: nil,
                share: paid.share.share?.isSale == true ? paid.share.id : nil
            )
        }
        let session = try books.session(session, at: time)
        guard session.payee != payer else { throw Refusal(.ownSession) }
        if let reason = session.finalReason { throw Refusal(reason) }
        guard let holder = session.payer else { throw Refusal(.sessionNotLocked) }
        guard holder == payer else { throw Refusal(.sessionBusy) }
        let amount = session.amount
        if let expectedAmount, expectedAmount != amount.minorUnits { throw Refusal(.amountChanged) }
        let paid = try session.paid(by: payer, tip: tip, at: time)
        let transfer = try books.post(
            .payment,
            paid.paymentLines(from: payer),
            record: session.recordID,
            step: "paid",
            at: time
        )
        books.put(paid, at: time)
        return Outcome(
            transfer: transfer.key.id,
            newBalance: books.balance(of: payer, in: amount.currency),
            tip: paid.tip
        )
    }
}

/// Refunds a paid session, in full or in part: never more than was paid.
package struct RefundPayment: KeyedCommand {
    package static let name = "refund"

    package let session: SessionID
    package let payee: UserID
    /// The amount in minor units, positive; `nil` for everything not refunded yet.
    package let amount: Int64?

    package init(session: SessionID, payee: UserID, amount: Int64?) {
        self.session = session
        self.payee = payee
        self.amount = amount
    }

    package var record: RecordID { RecordID(session) }

    /// The outcome of a refund, in minor units.
    package struct Outcome: Codable, Equatable, Sendable {
        package let transfer: String
        package let amount: Int64
        /// The tip part of it; `nil` if the session allows no tip.
        package let tip: Int64?
        /// The session's total refunds, this one included.
        package let total: Int64
        /// The payee's balance after it.
        package let newBalance: Int64
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.owners.insert(.user(payee))
        footprint.records.insert(RecordID(session))
        if let group = session.group { footprint.records.insert(RecordID(group)) }
        guard let rows else { return footprint.needsAnotherRound = true }
        guard let record = rows.records[RecordID(session)], let paid = try? Session(record) else {
            return
        }
        if let payer = paid.payer { footprint.owners.insert(.user(payer)) }
        if paid.take != nil { footprint.owners.insert(paid.takeAccount.owner) }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Outcome {
        if self.session.isGroup {
            guard try books.group(self.session, at: time).payee == payee else {
                throw Refusal(.forbidden)
            }
            // A group is not refunded as a whole, because several payers paid it. Each share is
            // refunded separately.
            throw Refusal(.notRefundable)
        }
        let session = try books.session(session, at: time)
        guard session.payee == payee else { throw Refusal(.forbidden) }
        guard case .paid(let payer, _) = session.state else { throw Refusal(.sessionNotPaid) }
        if let share = session.share, let stake = share.stake, !share.isReturned {
            let group = try books.group(share.group, at: time)
            guard stake.record == group.recordID, case .paid = group.state else {
                throw Refusal(.notRefundable)
            }
        }
        let rest = session.total - session.refunded
        guard rest > 0 else { throw Refusal(.sessionRefunded) }
        let amount = amount ?? rest
        guard amount > 0, amount <= rest else { throw Refusal(.refundTooLarge) }
        let refunded = session.refunded(by: amount)
        let transfer = try books.post(
            .refund,
            session.refundLines(of: amount, after: session.refunded, to: payer),
            record: session.recordID,
            step: "refund/\(refunded.refunded)",
            at: time
        )
        books.put(refunded, refunding: amount, at: time)
        return Outcome(
            transfer: transfer.key.id,
            amount: amount,
            tip: refunded.tip(inRefund: amount, total: refunded.refunded),
            total: refunded.refunded,
            newBalance: books.balance(of: payee, in: session.amount.currency)
        )
    }
}

extension Transfer.Key {
    /// The total in a refund's step: the sum of refunds up to this one, in minor units.
    var refunded: Int64 { step.split(separator: "/").last.flatMap { Int64($0) } ?? 0 }
}

extension Books {
    /// Returns a user's balance, in minor units. The user has an account.
    fileprivate func balance(of user: UserID, in currency: Currency) -> Int64 {
        rows.accounts[Account.Key(.user(user), currency)]?.balance ?? 0
    }
}
