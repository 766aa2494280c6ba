import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import Funding

@Suite("Deposits")
struct DepositTests {
    static func seen(
        _ deposit: RecordID,
        _ status: SeenDeposit.Status = .succeeded,
        intent: String = "pi_1",
        amount: Int64 = 2_000,
        currency: String = "usd",
        isLive: Bool = false,
        charge: SeenCharge? = nil
    ) -> SeenDeposit {
        SeenDeposit(
            intent: intent,
            status: status,
            amount: amount,
            currency: currency,
            isLive: isLive,
            deposit: deposit.rawValue,
            charge: charge
        )
    }

    @Test("Reordered, repeated and lost observations lead to the same sums as at the provider")
    func anyOrder() throws {
        var random = SeededGenerator("Deposits in any order")
        let wanted: Set = ["SUCCEEDED", "CANCELED", "owed", "settled"]
        var reached: Set<String> = []
        var count = 0
        while count < 40 * effort || !reached.isSuperset(of: wanted) && count < 1_000 {
            count += 1
            try runStory(&random, &reached)
        }
        #expect(wanted.subtracting(reached) == [], "seed \(random.seed)")
    }

    @Test("A paid deposit that the ledger does not know, or knows as unpaid, is adopted once")
    func adopted() throws {
        func adoption(_ id: RecordID, of user: UserID) -> AdoptDeposit {
            AdoptDeposit(
                id,
                user: user,
                amount: Money(minorUnits: 2_000),
                isLive: false,
                payment: Self.seen(id)
            )
        }
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let lost = RecordID(trusted: "d-lost")
        for _ in 0..<2 {
            #expect(try rig.submit(adoption(lost, of: payer)).get().state == .succeeded)
            #expect(rig.balance(.user(payer)) == 2_000)
        }
        // The deposit of a lost user is adopted for another, and the record says so.
        let gone = AdoptDeposit(
            RecordID(trusted: "d-gone"),
            user: payer,
            orderedBy: UserID(trusted: "u-gone"),
            amount: Money(minorUnits: 2_000),
            isLive: false,
            payment: Self.seen(RecordID(trusted: "d-gone"), intent: "pi_2")
        )
        #expect(try rig.submit(gone).get().body.orderedBy == UserID(trusted: "u-gone"))
        #expect(rig.balance(.user(payer)) == 4_000 && rig.complaint == nil)
        // A payment belongs to one deposit only.
        let other = RecordID(trusted: "d-other")
        #expect(try rig.submit(adoption(other, of: payer)).get().state == .held)
        #expect(rig.balance(.user(payer)) == 4_000 && rig.complaint == nil)
        var second = FundingBooks()
        let user = try second.user("payer")
        let id = try second.open(2_000, by: user).outcome.get()
        second.pass(DepositBody.creationLimit)
        _ = try second.submit(Observe(id, .unknown(after: nil))).get()
        #expect(try second.deposit(id).state == .canceled)
        #expect(try second.submit(adoption(id, of: user)).get().state == .succeeded)
        #expect(second.balance(.user(user)) == 2_000 && second.complaint == nil)
    }

    @Test(
        "A dispute in a converted currency moves the disputed amount, and no foreign fee is booked"
    )
    func convertedDispute() throws {
        func line(_ id: String, _ amount: Int64, fee: Int64) -> SeenTransaction {
            SeenTransaction(id: id, type: "adjustment", amount: amount, fee: fee, currency: "eur")
        }
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer).outcome.get()
        func see(_ dispute: SeenReversal) throws {
            let charge = SeenCharge(transaction: nil, disputes: [dispute])
            _ = try rig.submit(Observe(id, .deposit(Self.seen(id, charge: charge)))).get()
        }
        let out = line("txn_out", -1_730, fee: 1_500)
        for _ in 0..<2 {
            try see(SeenReversal(id: "dp_1", amount: 1_900, out: out))
            #expect(rig.balance(.user(payer)) == 100 && rig.complaint == nil)
            #expect(rig.balance(.house(.stripeFees)) == 0)
        }
        // The exchange rate has changed since. The user gets back the disputed amount, in the
        // currency of the charge.
        try see(
            SeenReversal(
                id: "dp_1",
                amount: 1_900,
                out: out,
                back: line("txn_in", 1_801, fee: -1_500)
            )
        )
        #expect(rig.balance(.user(payer)) == 2_000 && rig.balance(.house(.stripeFees)) == 0)
        #expect(rig.complaint == nil)
    }

    private func runStory(_ random: inout SeededGenerator, _ reached: inout Set<String>) throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let shop = try rig.user("shop", cents: 1_000_000)
        var models: [CardModel] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let amount = Int64.random(in: 100...20_000, using: &random)
            models.append(
                CardModel(deposit: try rig.open(amount, by: payer).outcome.get(), amount: amount)
            )
        }
        var earlierObservations: [SeenDeposit] = models.map(\.seen)
        var spent: Int64 = 0
        for _ in 0..<40 {
            let index = Int.random(in: models.indices, using: &random)
            models[index].evolve(using: &random)
            if Int.random(in: 0..<3, using: &random) > 0 {
                earlierObservations.append(models[index].seen)
            }
            if let seen = earlierObservations.randomElement(using: &random), let id = seen.deposit {
                _ = try rig.submit(Observe(RecordID(trusted: id), .deposit(seen))).get()
            }
            let balance = rig.balance(.user(payer))
            if balance > 0, Int.random(in: 0..<3, using: &random) == 0 {
                let cents = Int64.random(in: 1...balance, using: &random)
                try rig.pay(cents, from: payer, to: shop)
                spent += cents
            }
            if rig.balance(.houseOf(.owed, payer)) < 0 { reached.insert("owed") }
            rig.pass(.seconds(7))
            if let complaint = rig.complaint { throw WrongBooks(complaint: complaint) }
        }
        for model in models {
            _ = try rig.submit(Observe(model.deposit, .deposit(model.seen))).get()
            reached.insert(try rig.deposit(model.deposit).state.rawValue)
        }
        if rig.books.transfers.values.contains(where: { $0.kind == "DEBT_SETTLED" }) {
            reached.insert("settled")
        }
        let net = models.map(\.net).reduce(0, +)
        let fees = models.map(\.fees).reduce(0, +)
        #expect(rig.balance(.user(payer)) + rig.balance(.houseOf(.owed, payer)) == net - spent)
        #expect(rig.balance(.house(.stripeBalance)) == fees - net, "seed \(random.seed)")
        #expect(rig.balance(.house(.stripeFees)) == -fees)
        #expect(rig.complaint == nil)
    }

    @Test("A PaymentIntent that is reported for two deposits is credited only to the first")
    func stolen() throws {
        var rig = FundingBooks()
        let (one, two) = (try rig.user("one"), try rig.user("two"))
        let ids = [
            try rig.open(2_000, by: one).outcome.get(), try rig.open(2_000, by: two).outcome.get(),
        ]
        for id in ids {
            let seen = Self.seen(id)
            _ = try rig.submit(Observe(id, .deposit(seen))).get()
        }
        #expect(rig.balance(.user(one)) == 2_000)
        #expect(rig.balance(.user(two)) == 0)
        #expect(try rig.deposit(ids[1]).state == .held)
        #expect(rig.complaint == nil)
    }

    @Test("A deposit that the provider never received ends after 80 minutes")
    func neverMade() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer).outcome.get()
        var keys: Set<String> = []
        while let refreshAt = try rig.deposit(id).refreshAt {
            rig.time = max(rig.time, refreshAt)
            let call = try rig.submit(Wake(id)).get()
            guard case .openDeposit(let order) = call else {
                Issue.record("\(String(describing: call))")
                return
            }
            keys.insert(order.key)
            _ = try rig.submit(Observe(id, .unknown(after: nil))).get()
        }
        #expect(try rig.deposit(id).state == .canceled)
        #expect(keys.count == 1)
        let made = try rig.deposit(id).createdAt
        #expect(made.duration(to: rig.time) >= .seconds(80 * 60))
        #expect(made.duration(to: rig.time) < .seconds(90 * 60))
    }

    @Test(
        "An unpaid deposit is ended at the provider after two hours, or when its payer cancels it"
    )
    func ended() throws {
        for isAsked in [false, true] {
            var rig = FundingBooks()
            let payer = try rig.user("payer")
            let id = try rig.open(2_000, by: payer).outcome.get()
            let model = CardModel(deposit: id, amount: 2_000)
            _ = try rig.submit(Observe(id, .deposit(model.seen))).get()
            let reference = try #require(try rig.deposit(id).providerReference)
            if isAsked {
                _ = try rig.submit(CancelDeposit(id, user: payer)).get()
            } else {
                #expect(try rig.submit(Wake(id)).get() == .readDeposit(reference))
                rig.pass(.seconds(2 * 3_600))
            }
            #expect(try rig.submit(Wake(id)).get() == .endDeposit(reference))
        }
    }

    @Test("A deposit is refused beyond the limits of open deposits, recent deposits or the wallet")
    func limits() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        var ids: [RecordID] = []
        for _ in 0..<DepositLimits.open { ids.append(try rig.open(100, by: payer).outcome.get()) }
        #expect(try rig.open(100, by: payer).refusal == Refusal(.tooManyOpenDeposits))
        // A paid deposit is not open, although its fee is still awaited.
        _ = try rig.submit(Observe(ids[0], .deposit(Self.seen(ids[0], amount: 100)))).get()
        #expect(try rig.deposit(ids[0]).isSettledAndRefreshed)
        #expect(try rig.open(100, by: payer).isAccepted)
        let eager = try rig.user("eager")
        #expect(try rig.open(100, by: eager, recent: 9).isAccepted)
        #expect(try rig.open(100, by: eager, recent: 10).refusal == Refusal(.tooManyDeposits))
        let rich = try rig.user("rich", cents: 199_901)
        let full = Refusal(.walletFull, required: 100, available: 99)
        #expect(try rig.open(100, by: rich).refusal == full)
    }

    @Test("A user's own limits override the default ones")
    func ownLimits() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer", cents: 199_950)
        #expect(try rig.open(100, by: payer).refusal?.reason == .walletFull)
        _ = try rig.submit(SetTerms(payer) { $0.balanceMaximum = 300_000 }).get()
        let large = Refusal(.depositTooLarge, required: 50_001, available: 50_000)
        #expect(try rig.open(50_001, by: payer).refusal == large)
        _ = try rig.submit(SetTerms(payer) { $0.depositMaximum = 60_000 }).get()
        #expect(try rig.open(50_001, by: payer).isAccepted)
    }

    @Test("A finished deposit is not refreshed any more once the provider has confirmed its end")
    func over() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer).outcome.get()
        let ended = Self.seen(id, .canceled)
        _ = try rig.submit(Observe(id, .deposit(ended))).get()
        #expect(try rig.deposit(id).refreshAt == nil)
        // A notification wakes the deposit, but the provider does not answer.
        _ = try rig.submit(Wake(id)).get()
        _ = try rig.submit(Observe(id, .unknown(after: nil))).get()
        #expect(try rig.deposit(id).refreshAt != nil)
        _ = try rig.submit(Observe(id, .deposit(ended))).get()
        #expect(try rig.deposit(id).refreshAt == nil)
        #expect(try rig.deposit(id).state == .canceled)
    }

    @Test(
        "A deposit whose key was used with other parameters is held until it is found or cancelled"
    )
    func keyReused() throws {
        for isFound in [true, false] {
            var rig = FundingBooks()
            let payer = try rig.user("payer")
            let id = try rig.open(2_000, by: payer).outcome.get()
            let order = try rig.submit(Wake(id)).get()
            let reused = ProviderRefusal(.keyReused, code: "idempotency_error", message: "")
            _ = try rig.submit(Observe(id, .refused(reused), of: order)).get()
            #expect(try rig.deposit(id).state == .held)
            guard case .findDeposit = try rig.submit(Wake(id)).get() else {
                Issue.record("the deposit is not searched for")
                return
            }
            if isFound {
                _ = try rig.submit(Observe(id, .deposit(Self.seen(id)))).get()
                #expect(try rig.deposit(id).state == .succeeded)
                #expect(rig.balance(.user(payer)) == 2_000)
            } else {
                _ = try rig.submit(Observe(id, .absent)).get()
                _ = try rig.submit(CancelHeldDeposit(id)).get()
                #expect(try rig.deposit(id).state == .canceled)
                #expect(throws: Refusal(.intentSettled)) {
                    try rig.submit(CancelHeldDeposit(id)).get()
                }
            }
            #expect(rig.complaint == nil)
        }
    }

    @Test("A development mint pays a deposit and a withdrawal at once, and its debt is booked")
    func mint() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer, source: .mint).outcome.get()
        #expect(try rig.deposit(id).state == .succeeded)
        #expect(rig.balance(.user(payer)) == 2_000)
        #expect(rig.balance(.house(.developmentMint)) == -2_000)
        _ = try rig.withdraw(500, by: payer, source: .mint).outcome.get()
        #expect(rig.balance(.user(payer)) == 1_500)
        #expect(rig.complaint == nil)
    }
}
