internal import Funding
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess
internal import Stripe

/// The adoption of what Stripe has and the ledger has lost.
extension ReconciliationRun {
    /// Adopts paid deposits of the last 30 days whose record is missing from the ledger, for
    /// example after the restore of a backup, or has no payment yet.
    func adopt(_ differences: inout Int) async throws {
        let start = Timestamp.now.advanced(by: .seconds(-30 * 24 * 3_600))
        let intents = await provider.all(pages: StripeProvider.fullListPageLimit) {
            StripeCall.paymentIntents(from: start, to: .now, after: $0)
        }
        for intent in try done(intents) where intent.status == .succeeded {
            guard let deposit = intent.metadata[StripeProvider.depositMetadataKey],
                let user = intent.metadata[StripeProvider.userMetadataKey]
            else { continue }
            let id = RecordID(trusted: deposit)
            let known = try await store.record(id).map { try Deposit($0) }
            guard known?.body.intent == nil else { continue }
            try await report(intent.id, &differences) {
                try await adopt(intent, as: id, of: UserID(trusted: user))
            }
        }
    }

    /// - Throws: `ServerFailure` with the reason if the deposit cannot be adopted.
    private func adopt(
        _ intent: PaymentIntent,
        as id: RecordID,
        of user: UserID
    ) async throws {
        let owner = try await owner(of: id, orderedBy: user)
        let reference = DepositReference(deposit: id, intent: intent.id, checkout: nil)
        let observation = await provider.perform(.readDeposit(reference)).observation
        guard case .deposit(let payment) = observation else {
            throw ServerFailure(.tryAgain, "Stripe did not answer. Run it again.")
        }
        let adoption = AdoptDeposit(
            id,
            user: owner,
            orderedBy: owner == user ? nil : user,
            amount: Money(minorUnits: intent.amount),
            isLive: isLive,
            payment: payment
        )
        guard try await store.carryOut(adoption).state == .succeeded else {
            throw ServerFailure(.negative, "it is not what was ordered, and is held")
        }
        let change = owner == user ? "" : ": for user \(owner), not \(user)"
        Console.output("adopted\t\(intent.id) \(Reconciliation.text(intent.amount))\(change)")
    }

    /// Returns the user for whom a record is adopted: its owner, if an earlier run has adopted it.
    /// Otherwise the user in Stripe's metadata, or the one whom the operator has named instead,
    /// because the ledger has lost the user.
    ///
    /// - Throws: `ServerFailure` if the ledger does not know the user.
    private func owner(of record: RecordID, orderedBy user: UserID) async throws -> UserID {
        if let known = try await store.record(record) { return known.owner }
        let owner = replacements[user] ?? user
        guard try await store.user(id: owner, orLogin: owner.rawValue) != nil else {
            throw ServerFailure(
                .negative,
                "these books have no user \(user). If you know who that is in these books: "
                    + "reconcile --adopt --as \(user)=USER"
            )
        }
        return owner
    }

    /// Adopts withdrawals whose transfer is at Stripe but not in the ledger. The running server
    /// then looks up the transfer and its payout.
    func adoptTransfers(_ facts: [String], _ differences: inout Int) async throws {
        for fact in facts where fact.hasPrefix("tr_") {
            let transfer = try await done(.transfer(fact))
            guard let withdrawal = transfer.metadata[StripeProvider.withdrawalMetadataKey],
                let user = transfer.metadata[StripeProvider.userMetadataKey],
                let destination = transfer.destination?.id, transfer.amountReversed == 0
            else { continue }
            try await report(fact, &differences) {
                let id = RecordID(trusted: withdrawal)
                let adoption = AdoptWithdrawal(
                    id,
                    user: try await owner(of: id, orderedBy: UserID(trusted: user)),
                    amount: Money(minorUnits: transfer.amount),
                    account: destination,
                    sentAt: transfer.created
                )
                guard try await store.carryOut(adoption) else { return }
                Console.output(
                    "adopted\t\(fact) \(Reconciliation.text(transfer.amount)): the running server "
                        + "looks for its payout"
                )
            }
        }
    }

    /// Runs an adoption. If it fails, reports the failure as a difference.
    private func report(
        _ object: String,
        _ differences: inout Int,
        _ adoption: () async throws -> Void
    ) async throws {
        do {
            try await adoption()
        } catch let failure as ServerFailure {
            report("\(object) cannot be adopted: \(failure.message)", &differences)
        }
    }
}
