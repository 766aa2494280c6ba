internal import Funding
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess
internal import Stripe

/// One run of `reconcile`: reads both sides, prints what it finds, and books what it may.
struct ReconciliationRun {
    /// The readings of Stripe's balance that must agree, before it is said to move.
    private static let tries = 3
    private static let currency = Currency.usd

    let store: any Store
    let provider: StripeProvider
    /// A Boolean that is true if the platform's own transactions are booked.
    let books: Bool
    /// A Boolean that is true if lost deposits are taken up.
    let adopts: Bool
    let isLive: Bool

    /// - Returns: The number of differences.
    func run() async throws -> Int {
        guard let record = try await store.record(Provider.id) else {
            throw ServerFailure(
                .negative,
                "These books belong to no account of Stripe's yet.",
                fix: "Start the server once with the key."
            )
        }
        let account = try await done(.ownAccount)
        guard try Provider(record).body.account == account.id else {
            throw ServerFailure(.badData, "The key is of another account than these books.")
        }
        var differences = 0
        if adopts { try await adopt(&differences) }
        let (balance, lines) = try await readings()
        if books { try await book(lines) }
        let reconciliation = Reconciliation(lines: lines, books: try await booked())
        if adopts {
            try await adoptTransfers(reconciliation.unbooked.map(\.fact), &differences)
        }
        for difference in reconciliation.unbooked { report(difference.text, &differences) }
        let pending = try await judge(reconciliation.unknown, &differences)
        if differences == 0 {
            Console.output("ok\t\(lines.count) balance transactions, each booked once")
        }
        let ours = -(try await self.balance(of: .house(.stripeBalance))) - pending
        let text = Reconciliation.text
        if ours == reconciliation.net, ours == balance {
            Console.output("ok\t−STRIPE_BALANCE \(text(ours)) = Σ net = Stripe's balance")
        } else {
            report(
                "−STRIPE_BALANCE \(text(ours)), Σ net \(text(reconciliation.net)), Stripe's "
                    + "balance \(text(balance))",
                &differences
            )
        }
        try await comparePayees(&differences)
        return differences
    }

    private func report(_ text: String, _ differences: inout Int) {
        differences += 1
        Console.output("DIFF\t\(text)")
    }

    // MARK: Stripe

    private func done<Reply>(_ call: StripeCall<Reply>) async throws -> Reply {
        try done(await provider.client.send(call))
    }

    private func done<Reply>(_ outcome: StripeOutcome<Reply>) throws -> Reply {
        guard case .done(let reply) = outcome else {
            throw ServerFailure(
                .tryAgain,
                "Stripe did not answer: nothing was compared.",
                fix: "Run it again. A restricted key must be allowed to read the account, "
                    + "balances, transactions, payments, accounts and payouts."
            )
        }
        return reply
    }

    /// Reads the balance and its history; the balance must be the same before and after.
    private func readings() async throws -> (balance: Int64, lines: [BalanceTransaction]) {
        for _ in 0..<Self.tries {
            let before = total(try await done(.balance(of: nil)))
            let start = Timestamp(milliseconds: 0)
            let lines = try done(
                await provider.all(pages: StripeProvider.longList) {
                    StripeCall.balanceTransactions(from: start, to: nil, after: $0)
                }
            )
            guard before == total(try await done(.balance(of: nil))) else { continue }
            // Lines in another currency are no part of these books.
            return (before, lines.filter { $0.currency == Self.currency.rawValue })
        }
        throw ServerFailure(.tryAgain, "Stripe's balance changes while it is read. Run it again.")
    }

    private func total(_ balance: StripeBalance) -> Int64 {
        (balance.available + balance.pending + (balance.reserved ?? []))
            .filter { $0.currency == Self.currency.rawValue }
            .reduce(0) { $0 + $1.amount }
    }

    // MARK: The books

    private func balance(of owner: Account.Owner) async throws -> Int64 {
        let key = Account.Key(owner, Self.currency)
        return try await store.history(of: key, .newest)?.account.balance ?? 0
    }

    /// The effect of each booked fact on Stripe's balance.
    private func booked() async throws -> [String: Int64] {
        let key = Account.Key(.house(.stripeBalance), Self.currency)
        var facts: [String: Int64] = [:]
        var start = HistoryRange.Start.newest(skipping: 0)
        while true {
            let range = HistoryRange(start, limit: 1_000)
            let entries = try await store.history(of: key, range)?.entries ?? []
            for (entry, _) in entries {
                facts[entry.transfer.step, default: 0] -= entry.amount
            }
            guard entries.count == range.limit, let last = entries.last else { return facts }
            start = .after(last.entry.number)
        }
    }

    /// Judges facts without a transaction: a payment that was just made has none yet.
    ///
    /// - Returns: The sum of those that are not known yet.
    private func judge(
        _ facts: [(fact: String, effect: Int64)],
        _ differences: inout Int
    ) async throws -> Int64 {
        var pending: Int64 = 0
        for (fact, effect) in facts {
            if fact.hasPrefix("pi_"), try await isPending(fact, effect) {
                pending += effect
            } else {
                report(
                    "\(fact) \(Reconciliation.text(effect)) is booked, and Stripe has no such "
                        + "transaction",
                    &differences
                )
            }
        }
        return pending
    }

    private func isPending(_ intent: String, _ amount: Int64) async throws -> Bool {
        guard case .done(let seen) = await provider.client.send(.paymentIntent(intent)) else {
            return false
        }
        return seen.status == .succeeded && seen.amountReceived == amount
            && seen.latestCharge?.object?.balanceTransaction == nil
    }

    private func book(_ lines: [BalanceTransaction]) async throws {
        for line in lines where try await store.carryOut(BookTransaction(SeenTransaction(line))) {
            let amount = Reconciliation.text(line.net)
            Console.output("booked\t\(line.id) \(line.type) \(amount)")
        }
    }

    // MARK: Payees

    /// Compares STRIPE_PAYOUTS with what lies at payees' accounts or is on its way from there.
    private func comparePayees(_ differences: inout Int) async throws {
        var accounts: [String] = []
        try await store.forEach(PayeeBody.kind) { record in
            if let account = try Payee(record).body.account { accounts.append(account) }
        }
        var theirs: Int64 = 0
        for account in accounts {
            theirs += total(try await done(.balance(of: account)))
            let start = Timestamp.now.advanced(by: .seconds(-60 * 24 * 3_600))
            let payouts = try done(
                await provider.all {
                    StripeCall.payouts(of: account, from: start, to: nil, after: $0)
                }
            )
            theirs += payouts.filter { $0.status == .pending || $0.status == .inTransit }
                .reduce(0) { $0 + $1.amount }
        }
        let ours = -(try await balance(of: .house(.stripePayouts)))
        let text = "−STRIPE_PAYOUTS \(Reconciliation.text(ours))"
        if ours == theirs {
            Console.output("ok\t\(text) = balances and open payouts of \(accounts.count) accounts")
        } else {
            report("\(text), at payees' accounts \(Reconciliation.text(theirs))", &differences)
        }
    }

    // MARK: Adoption

    /// Takes up paid deposits whose record was lost with the books' last hours, or says nothing of
    /// the payment.
    private func adopt(_ differences: inout Int) async throws {
        let start = Timestamp.now.advanced(by: .seconds(-30 * 24 * 3_600))
        let intents = try done(
            await provider.all(pages: StripeProvider.longList) {
                StripeCall.paymentIntents(from: start, to: .now, after: $0)
            }
        )
        for intent in intents where intent.status == .succeeded {
            guard let deposit = intent.metadata[StripeProvider.depositName],
                let user = intent.metadata[StripeProvider.userName]
            else { continue }
            let id = RecordID(trusted: deposit)
            let known = try await store.record(id).map { try Deposit($0) }
            guard known?.body.intent == nil else { continue }
            try await report(intent.id, &differences) {
                try await adopt(intent, as: id, of: UserID(trusted: user))
            }
        }
    }

    /// - Throws: `ServerFailure` with the reason why it cannot be taken up.
    private func adopt(
        _ intent: PaymentIntent,
        as id: RecordID,
        of user: UserID
    ) async throws {
        let reference = DepositReference(deposit: id, intent: intent.id, checkout: nil)
        let observation = await provider.perform(.readDeposit(reference)).observation
        guard case .deposit(let payment) = observation else {
            throw ServerFailure(.tryAgain, "Stripe did not answer. Run it again.")
        }
        let adoption = AdoptDeposit(
            id,
            user: user,
            amount: Money(minorUnits: intent.amount),
            isLive: isLive,
            payment: payment
        )
        guard try await store.carryOut(adoption).state == .succeeded else {
            throw ServerFailure(.negative, "it is not what was ordered, and is held")
        }
        Console.output("adopted\t\(intent.id) \(Reconciliation.text(intent.amount))")
    }

    /// Takes up withdrawals of which Stripe has the transfer, and the books know nothing of it. The
    /// running server then looks for it, and for its payout.
    private func adoptTransfers(_ facts: [String], _ differences: inout Int) async throws {
        for fact in facts where fact.hasPrefix("tr_") {
            let transfer = try await done(.transfer(fact))
            guard let withdrawal = transfer.metadata[StripeProvider.withdrawalName],
                let user = transfer.metadata[StripeProvider.userName],
                let destination = transfer.destination?.id, transfer.amountReversed == 0
            else { continue }
            let adoption = AdoptWithdrawal(
                RecordID(trusted: withdrawal),
                user: UserID(trusted: user),
                amount: Money(minorUnits: transfer.amount),
                account: destination,
                sentAt: transfer.created
            )
            try await report(fact, &differences) {
                guard try await store.carryOut(adoption) else { return }
                Console.output(
                    "adopted\t\(fact) \(Reconciliation.text(transfer.amount)): the running server "
                        + "looks for its payout"
                )
            }
        }
    }

    /// Reports what could not be taken up, and goes on.
    private func report(
        _ object: String,
        _ differences: inout Int,
        _ adoption: () async throws -> Void
    ) async throws {
        do {
            try await adoption()
        } catch let failure as ServerFailure {
            report("\(object) cannot be taken up: \(failure.message)", &differences)
        }
    }
}
