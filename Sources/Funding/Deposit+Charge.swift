internal import GotchuCore
internal import Ledger

/// The facts of a paid deposit: its charge with all later movements of its money.
extension FundingDecision where Body == DepositBody {
    /// Books what a charge shows, and is not booked yet.
    mutating func book(_ charge: SeenCharge) {
        let user = subject.owner
        if let transaction = charge.transaction {
            book(feeOf: transaction)
            subject.body.isFeeKnown = true
        }
        for refund in charge.refunds {
            if let out = refund.out {
                book(.cardRefund, refund.id, refund.amount, .debit(user))
                book(feeOf: out)
            }
            if let back = refund.back, refund.out != nil {
                book(.cardRefundBack, "\(refund.id):back", refund.amount, .credit(user))
                book(feeOf: back)
            }
        }
        if !charge.disputes.isEmpty {
            subject.body.isDisputed = charge.disputes.contains {
                $0.out != nil && $0.back == nil && !$0.isLost
            }
        }
        for dispute in charge.disputes {
            guard let out = dispute.out else { continue }
            let taken = isOurs(out) ? -out.amount : dispute.amount
            book(.dispute, "\(dispute.id):out", taken, .debit(user))
            book(feeOf: out)
            guard let back = dispute.back else { continue }
            let returned = isOurs(back) ? back.amount : dispute.amount
            book(.disputeWon, "\(dispute.id):in", returned, .credit(user))
            book(feeOf: back)
        }
    }

    private mutating func book(feeOf transaction: SeenTransaction) {
        guard transaction.fee != 0, isOurs(transaction) else { return }
        book(
            .providerFee,
            transaction.id,
            transaction.fee,
            .move(from: .house(.stripeFees), to: .house(.stripeBalance))
        )
    }

    private func isOurs(_ transaction: SeenTransaction) -> Bool {
        transaction.currency.lowercased() == subject.amount.currency.rawValue
    }

    /// Books a fact, unless it is booked, its amount is implausible or the limit is reached.
    mutating func book(
        _ kind: TransferKind,
        _ fact: String,
        _ amount: Int64,
        _ lines: Posting.Lines
    ) {
        let isPossible =
            kind == .providerFee
            ? amount.magnitude <= Pace.maximumAmount : (1...Pace.maximumAmount).contains(amount)
        guard isPossible, subject.body.booked[fact] == nil,
            subject.body.booked.count < DepositBody.factLimit
        else { return }
        subject.body.booked[fact] = amount
        postings.append(Posting(kind, fact, amount, lines))
    }
}
