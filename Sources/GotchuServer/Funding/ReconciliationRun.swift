internal import Funding
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess
internal import Stripe

/// One run of `reconcile`: reads both sides, prints the differences, books and adopts if allowed.
struct ReconciliationRun {
    /// The maximum number of readings of both sides: money may move during a reading.
    private static let tries = 5
    /// The time between two readings. A running server books recent changes meanwhile.
    private static let pause: Duration = .seconds(2)
    /// The age at which a running server has certainly seen a transaction. It refreshes open
    /// records at least every 15 minutes, and reads the list of events every 10 minutes.
    private static let lag: Duration = .seconds(1_200)
    private static let currency = Currency.usd

    let store: any Store
    let provider: StripeProvider
    /// A Boolean that is true if the platform's own transactions are booked.
    let booksPlatform: Bool
    /// A Boolean that is true if lost deposits and withdrawals are adopted.
    let adopts: Bool
    /// The users for whom deposits and withdrawals of lost users are adopted, by the lost ids.
    let replacements: [UserID: UserID]
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
            throw ServerFailure(
                .badData,
                "The key is of another account than these books.",
                fix: "Name the file of the key that the server uses, with --stripe-key-file."
            )
        }
        var differences = 0
        if adopts { try await adopt(&differences) }
        let lines = try await transactions(from: Timestamp(milliseconds: 0))
        if booksPlatform { try await book(lines) }
        if adopts {
            let first = Reconciliation(lines: lines, books: try await booked())
            try await adoptTransfers(first.unbooked.map(\.fact), &differences)
        }
        let comparison = try await compare(lines)
        for note in comparison.notes { Console.output("note\t\(note)") }
        for difference in comparison.differences { report(difference, &differences) }
        if differences == 0 {
            let rest = comparison.notes.isEmpty ? "" : ", but for these"
            Console.output("ok\t\(comparison.count) balance transactions, each booked once\(rest)")
        }
        let (ours, net, theirs) = (comparison.ours, comparison.net, comparison.balance)
        let text = Reconciliation.text
        if ours == net, ours == theirs {
            Console.output("ok\t−STRIPE_BALANCE \(text(ours)) = Σ net = Stripe's balance")
        } else {
            report(
                "−STRIPE_BALANCE \(text(ours)), Σ net \(text(net)), Stripe's balance "
                    + text(theirs),
                &differences
            )
        }
        try await comparePayees(&differences)
        return differences
    }

    func report(_ text: String, _ differences: inout Int) {
        differences += 1
        Console.output("DIFF\t\(text)")
    }

    // MARK: Stripe

    func done<Reply>(_ call: StripeCall<Reply>) async throws -> Reply {
        try done(await provider.client.send(call))
    }

    func done<Reply>(_ outcome: StripeOutcome<Reply>) throws -> Reply {
        guard case .done(let reply) = outcome else { throw outcome.serverFailure }
        return reply
    }

    /// Reads the balance's history since a time, newest first. Transactions in other currencies are
    /// left out: the ledger has none.
    private func transactions(from start: Timestamp) async throws -> [BalanceTransaction] {
        let all = await provider.all(pages: StripeProvider.fullListPageLimit) {
            StripeCall.balanceTransactions(from: start, after: $0)
        }
        return try done(all).filter { $0.currency == Self.currency.rawValue }
    }

    /// Both sides at the last reading.
    private struct Comparison {
        /// The number of Stripe's transactions.
        let count: Int
        /// The differences found in two readings, except those in `notes`, described for people.
        let differences: [String]
        /// The differences that a running server will still book, or that the operator has dropped.
        let notes: [String]
        /// −STRIPE_BALANCE, without pending payments, and with the differences not reported.
        let ours: Int64
        /// The sum of the transactions.
        let net: Int64
        /// Stripe's balance.
        let balance: Int64
    }

    /// Compares both sides. A difference may be transient: it is reported if two readings find it.
    private func compare(_ first: [BalanceTransaction]) async throws -> Comparison {
        var lines = first
        var before: [Reconciliation.Difference]?
        for attempt in 0..<Self.tries {
            // Polls: nothing announces that the running server has booked a change.
            if attempt > 0 { try await Task.sleep(for: Self.pause) }
            let balance = total(try await done(.balance(of: nil)))
            let known = Set(lines.map(\.id))
            let start = lines.first?.created.advanced(by: .zero - EventPoller.overlap)
            let newer = try await transactions(from: start ?? Timestamp(milliseconds: 0))
                .filter { !known.contains($0.id) }
            lines = newer + lines
            guard balance == total(try await done(.balance(of: nil))) else { continue }
            if booksPlatform { try await book(newer) }
            let both = Reconciliation(lines: lines, books: try await booked())
            let found = try await both.unbooked + judged(both.unknown)
            guard found.isEmpty && both.net == balance || before != nil else {
                before = found
                continue
            }
            var (differences, notes): ([String], [String]) = ([], [])
            var underWay = found.reduce(0) { $0 + $1.effect }
            for difference in found where before?.contains(difference) ?? true {
                let (text, isNote) = try await explained(difference, both)
                if isNote {
                    notes.append(text)
                } else {
                    differences.append(text)
                    underWay -= difference.effect
                }
            }
            let waiting = both.unknown.filter { each in !found.contains { $0.fact == each.fact } }
                .reduce(0) { $0 + $1.effect }
            return Comparison(
                count: lines.count,
                differences: differences,
                notes: notes,
                ours: both.books.values.reduce(0, +) - waiting + underWay,
                net: both.net,
                balance: balance
            )
        }
        throw ServerFailure(.tryAgain, "Stripe's balance changes while it is read. Run it again.")
    }

    /// Describes a difference for people, with the deposit that waits for the operator, or the time
    /// by which a running server will have booked it.
    ///
    /// - Returns: The description, and true if nobody has to do anything.
    private func explained(
        _ difference: Reconciliation.Difference,
        _ both: Reconciliation
    ) async throws -> (text: String, isNote: Bool) {
        let text = difference.text
        // No note for a fact booked in another amount: the server has already seen it.
        guard both.books[difference.fact] == nil, let line = both.lines[difference.fact],
            let object = line.paymentIntent
        else { return (text, false) }
        guard let known = try await store.record(named: Posting.name(ofObject: object)) else {
            return (text, false)
        }
        if let deposit = try? Deposit(known.record) {
            let owned = "\(text), and belongs to deposit \(deposit.id)"
            if deposit.isDropped {
                // A transaction stands there twice if it has a fee.
                let amounts = both.lines.values.filter { $0.paymentIntent == object }
                    .reduce(into: [:]) { $0[$1.id] = $1.amount }
                guard amounts.values.reduce(0, +) != 0 else {
                    return ("\(owned), which was dropped", true)
                }
                return ("\(owned), which was dropped, but is not refunded in full", false)
            }
            if deposit.state == .held {
                return ("\(owned), which is held: gotchu-server deposits list --held", false)
            }
        }
        let time = line.created.advanced(by: Self.lag)
        guard time > Timestamp.now else { return (text, false) }
        return ("\(text) yet: the server sees it by \(time.iso8601)", true)
    }

    private func total(_ balance: StripeBalance) -> Int64 {
        (balance.available + balance.pending + (balance.reserved ?? []))
            .filter { $0.currency == Self.currency.rawValue }
            .reduce(0) { $0 + $1.amount }
    }

    // MARK: The ledger

    private func balance(of owner: Account.Owner) async throws -> Int64 {
        let key = Account.Key(owner, Self.currency)
        return try await store.history(of: key, .newest)?.account.balance ?? 0
    }

    /// Returns each booked fact's effect on Stripe's balance.
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
            start = .before(last.entry.number)
        }
    }

    /// Returns a difference for each booked fact that has no transaction at Stripe. A payment whose
    /// transaction Stripe has not created yet is left out.
    private func judged(
        _ facts: [(fact: String, effect: Int64)]
    ) async throws -> [Reconciliation.Difference] {
        var differences: [Reconciliation.Difference] = []
        for (fact, effect) in facts {
            if fact.hasPrefix("pi_"), try await isPending(fact, effect) { continue }
            differences.append(
                Reconciliation.Difference(
                    fact: fact,
                    effect: -effect,
                    text: "\(fact) \(Reconciliation.text(effect)) is booked, and Stripe has no "
                        + "such transaction"
                )
            )
        }
        return differences
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

    /// Compares STRIPE_PAYOUTS with the balances and open payouts of payees' accounts.
    private func comparePayees(_ differences: inout Int) async throws {
        var accounts: Set<String> = []
        try await store.forEach(PayeeBody.kind) { record in
            let payee = try Payee(record).body
            accounts.formUnion([payee.account].compactMap(\.self) + payee.pastAccounts)
        }
        var seen = try await readPayees(accounts)
        for _ in 1..<Self.tries where seen.difference != 0 {
            let before = seen.difference
            // If money moved during the reading, the difference changes in the next reading.
            try await Task.sleep(for: Self.pause)
            seen = try await readPayees(accounts)
            if seen.difference == before { break }
        }
        for note in seen.notes { Console.output("note\t\(note)") }
        let text = "−STRIPE_PAYOUTS \(Reconciliation.text(seen.ours))"
        if seen.difference == 0 {
            Console.output("ok\t\(text) = balances and open payouts of \(accounts.count) accounts")
        } else {
            report("\(text), at payees' accounts \(Reconciliation.text(seen.theirs))", &differences)
        }
    }

    /// The payees' money at the last reading.
    private struct PayeesMoney {
        /// −STRIPE_PAYOUTS.
        var ours: Int64 = 0
        /// The sum of the accounts' balances and open payouts.
        var theirs: Int64 = 0
        /// Closed accounts, and payouts that the running server has not refreshed yet.
        var notes: [String] = []

        var difference: Int64 { ours - theirs }
    }

    private func readPayees(_ accounts: Set<String>) async throws -> PayeesMoney {
        var money = PayeesMoney()
        for account in accounts.sorted() {
            let balance = await provider.client.send(.balance(of: account))
            if case .refused = balance {
                money.notes.append("\(account) is closed: what lies there cannot be read")
                continue
            }
            money.theirs += total(try done(balance))
            let start = Timestamp.now.advanced(by: .seconds(-60 * 24 * 3_600))
            let payouts = await provider.all {
                StripeCall.payouts(of: account, from: start, after: $0)
            }
            for payout in try done(payouts) { try await add(payout, to: &money) }
        }
        money.ours = -(try await balance(of: .house(.stripePayouts)))
        return money
    }

    /// Adds the amount of a payout in transit. If the running server has not booked the payout's
    /// newest status yet, adjusts the sum to the booked status and adds a note.
    private func add(_ payout: StripePayout, to money: inout PayeesMoney) async throws {
        if [.pending, .inTransit].contains(payout.status) { return money.theirs += payout.amount }
        let record = try await store.record(named: Posting.name(ofObject: payout.id))?.record
        guard let record, let time = record.dueAt, time > Timestamp.now else { return }
        let withdrawal = try Withdrawal(record)
        // Without a reply to the last refresh, the next one may get none either: no note.
        guard withdrawal.body.unansweredSince == nil else { return }
        switch (withdrawal.state, payout.status) {
        case (.inTransit, .paid): money.theirs += payout.amount
        case (.paid, .failed), (.paid, .canceled): money.theirs -= payout.amount
        default: return
        }
        money.notes.append(
            "\(payout.id) \(Reconciliation.text(payout.amount)) is \(payout.status.rawValue), "
                + "which is not booked yet: the server sees it by \(time.iso8601)"
        )
    }
}

extension BalanceTransaction {
    /// The payment that it belongs to, or its own object, such as a transfer; `nil` without one.
    fileprivate var paymentIntent: String? {
        source.map { $0.object?.paymentIntent?.id ?? $0.id }
    }
}
