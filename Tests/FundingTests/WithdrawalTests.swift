import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import Funding

@Suite("Withdrawals")
struct WithdrawalTests {
    @Test("Money is paid once or returned to the wallet, even if calls are lost, late or refused")
    func stories() throws {
        var random = SeededGenerator("Withdrawals")
        var missing: Set = ["PAID", "FAILED", "CANCELLED", "HELD"]
        var count = 0
        // Every seed must reach each of these final states, within 1,000 withdrawals.
        while count < 30 * effort || !missing.isEmpty && count < 1_000 {
            count += 1
            missing.remove(try runStory(&random).rawValue)
        }
        #expect(missing == [], "seed \(random.seed)")
    }

    private func runStory(_ random: inout SeededGenerator) throws -> WithdrawalBody.State {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 10_000)
        try rig.onboard(payee)
        var bank = BankModel()
        bank.faultPercent = [0, 20, 60].randomElement(using: &random) ?? 0
        bank.payeeFunds = [0, 50_000].randomElement(using: &random) ?? 0
        let id = try rig.withdraw(6_000, by: payee).outcome.get()
        var earlierObservations: [(observation: Observation, call: Call, at: Timestamp)] = []
        for _ in 0..<2_000 {
            guard let refreshAt = try rig.withdrawal(id).refreshAt else { break }
            if Int.random(in: 0..<20, using: &random) == 0 {
                // A cancellation is accepted only if no call was made.
                let isCancelled = try rig.submit(CancelWithdrawal(id, user: payee)).isSuccess
                if isCancelled { #expect(bank.transfers.isEmpty, "seed \(random.seed)") }
            }
            if try rig.withdrawal(id).state == .held {
                // The operator resumes or returns the held withdrawal, or leaves it held.
                guard Int.random(in: 0..<4, using: &random) > 0 else { break }
                let isReturned = Bool.random(using: &random)
                _ = try rig.submit(ResumeWithdrawal(id, isReturned: isReturned))
            }
            if Int.random(in: 0..<300, using: &random) == 0 {
                // The operator orders the money back. The order is accepted only while the
                // withdrawal is pending.
                _ = try rig.submit(ResumeWithdrawal(id, isReturned: true))
            }
            // In one of four rounds a notification wakes the withdrawal before its time.
            if Int.random(in: 0..<4, using: &random) > 0 { rig.time = max(rig.time, refreshAt) }
            rig.pass(.seconds(Int64.random(in: 0..<3, using: &random)))
            // The server was down until the provider had forgotten the key.
            if Int.random(in: 0..<40, using: &random) == 0 { rig.pass(.seconds(30 * 3_600)) }
            if Int.random(in: 0..<10, using: &random) == 0,
                let old = earlierObservations.randomElement(using: &random),
                old.observation != .absent || old.at.duration(to: rig.time) < .seconds(120)
            {
                // A slow server commits an old answer late. A search takes at most two minutes.
                _ = try rig.submit(Observe(id, old.observation, of: old.call)).get()
            }
            var call = try rig.submit(Wake(id)).get()
            for _ in 0..<5 {
                guard let next = call else { break }
                // The server crashes between the commit and the call.
                if Int.random(in: 0..<30, using: &random) == 0 { break }
                let observation = bank.answer(next, at: rig.time, using: &random)
                earlierObservations.append((observation, next, rig.time))
                // The server crashes before it commits the reply.
                if Int.random(in: 0..<30, using: &random) == 0 { break }
                call = try rig.submit(Observe(id, observation, of: next)).get()
                if Int.random(in: 0..<10, using: &random) == 0, let complaint = rig.complaint {
                    throw WrongBooks(complaint: complaint)
                }
            }
        }
        let withdrawal = try rig.withdrawal(id)
        try check(withdrawal, rig, bank, payee, random.seed)
        return withdrawal.state
    }

    private func check(
        _ withdrawal: Withdrawal,
        _ rig: FundingBooks,
        _ bank: BankModel,
        _ payee: UserID,
        _ seed: UInt64
    ) throws {
        #expect(bank.transfers.count { $0.reversal == nil } <= 1, "sent twice, seed \(seed)")
        #expect(bank.paid(at: rig.time) <= 6_000, "paid twice, seed \(seed)")
        #expect(rig.complaint == nil, "seed \(seed)")
        let balance = rig.balance(.user(payee))
        switch withdrawal.state {
        case .paid:
            #expect(balance == 4_000, "seed \(seed)")
            #expect(
                bank.transferredSum == 6_000 && bank.paid(at: rig.time) == 6_000,
                "seed \(seed)"
            )
            #expect(rig.balance(.house(.withdrawals)) == 0)
            #expect(rig.balance(.house(.stripePayouts)) == 0)
            #expect(rig.balance(.house(.stripeBalance)) == 6_000)
        case .failed, .cancelled:
            #expect(balance == 10_000, "seed \(seed)")
            #expect(bank.transferredSum == 0 && bank.paid(at: rig.time) == 0, "seed \(seed)")
            #expect(rig.balance(.house(.stripeBalance)) == 0)
        case .held:
            #expect(balance == 4_000, "seed \(seed)")
            #expect(bank.needsPerson, "seed \(seed): \(withdrawal)")
        case .pending, .sent, .inTransit, .returning:
            Issue.record("seed \(seed): the withdrawal did not end: \(withdrawal)")
        }
    }

    @Test("A withdrawal needs an onboarded payee, an unchanged account, and money past its hold")
    func refusals() throws {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 5_000)
        #expect(try rig.withdraw(100, by: payee).refusal == Refusal(.payeeNotOnboarded))
        try rig.onboard(payee)
        let short = try rig.withdraw(2_001, by: payee, heldAmount: 3_000).refusal
        #expect(short == Refusal(.heldBalance, required: 2_001, available: 2_000))
        let stale = RequestWithdrawal(
            user: payee,
            amount: Money(minorUnits: 100),
            bankAccount: nil,
            source: .provider(isLive: false),
            hold: WithdrawalHold(entryCount: 99, heldAmount: 0),
            needsRelease: false
        )
        #expect(try rig.submit(stale, by: payee).refusal == Refusal(.accountChanged))
        #expect(try rig.withdraw(2_000, by: payee, heldAmount: 3_000).isAccepted)
        #expect(rig.balance(.user(payee)) == 3_000)
        #expect(rig.balance(.house(.withdrawals)) == 2_000)
    }

    @Test("A new payee's withdrawal is not sent before the operator releases it")
    func release() throws {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 5_000)
        try rig.onboard(payee)
        let id = try rig.withdraw(1_000, by: payee, needsRelease: true).outcome.get()
        let search = try rig.submit(Wake(id)).get()
        guard case .findTransfer = search else {
            Issue.record("\(String(describing: search))")
            return
        }
        _ = try rig.submit(Observe(id, .absent, of: search)).get()
        // The withdrawal is refreshed every 15 minutes while it waits, so that the operator is
        // reminded.
        rig.pass(Pace.held)
        let again = try rig.submit(Wake(id)).get()
        #expect(again == search)
        _ = try rig.submit(Observe(id, .absent, of: again)).get()
        #expect(try rig.withdrawal(id).state == .pending)
        #expect(try rig.withdrawal(id).refreshAt == rig.time.advanced(by: Pace.held))
        _ = try rig.submit(ReleasePayee(payee, withdrawals: [id])).get()
        guard case .sendTransfer = try rig.submit(Wake(id)).get() else {
            Issue.record("nothing is sent")
            return
        }
        let next = try rig.withdraw(1_000, by: payee, needsRelease: true).outcome.get()
        #expect(try rig.withdrawal(next).body.needsRelease == false)
    }

    @Test("A withdrawal that the operator stops before any call is returned at once")
    func stopped() throws {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 5_000)
        try rig.onboard(payee)
        for needsRelease in [false, true] {
            let id = try rig.withdraw(1_000, by: payee, needsRelease: needsRelease).outcome.get()
            _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
            #expect(try rig.withdrawal(id).state == .failed)
            #expect(try rig.withdrawal(id).body.reason?.code == WithdrawalBody.stopped)
            #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
            #expect(try rig.submit(ResumeWithdrawal(id, isReturned: true)).isSuccess == false)
        }
    }

    @Test("A withdrawal that is stopped during its transfer is reversed without a payout")
    func stoppedLate() throws {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 5_000)
        try rig.onboard(payee)
        let id = try rig.withdraw(1_000, by: payee).outcome.get()
        let call = try rig.submit(Wake(id)).get()
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
        #expect(try rig.withdrawal(id).state == .pending)
        func transfer(_ reversal: String?) -> Observation {
            .transfer(
                SeenTransfer(
                    id: "tr_1",
                    amount: 1_000,
                    currency: "usd",
                    destination: "acct_\(payee)",
                    reversal: reversal
                )
            )
        }
        // The answer to the transfer's call arrives after the operator's order.
        var next = try rig.submit(Observe(id, transfer(nil), of: call)).get()
        for _ in 0..<2 {
            let isSearch = if case .findPayout = next { true } else { false }
            #expect(isSearch, "\(String(describing: next))")
            next = try rig.submit(Observe(id, .absent, of: next)).get()
            rig.pass(Pace.listing)
            if next == nil { next = try rig.submit(Wake(id)).get() }
        }
        let isReversal = if case .reverseTransfer = next { true } else { false }
        #expect(isReversal, "\(String(describing: next))")
        _ = try rig.submit(Observe(id, transfer("trr_1"), of: next)).get()
        #expect(try rig.withdrawal(id).state == .failed)
        #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
    }

    @Test("A pending or sent withdrawal that cannot be read for 30 days is held for the operator")
    func silence() throws {
        for states in [[WithdrawalBody.State.pending], [.pending, .sent]] {
            var rig = FundingBooks()
            let payee = try rig.user("payee", cents: 5_000)
            try rig.onboard(payee)
            let id = try rig.withdraw(1_000, by: payee).outcome.get()
            if states.last == .sent {
                let seen = SeenTransfer(
                    id: "tr_1",
                    amount: 1_000,
                    currency: "usd",
                    destination: "acct_\(payee)"
                )
                _ = try rig.submit(Observe(id, .transfer(seen))).get()
            }
            for _ in 0..<31 {
                #expect(try rig.withdrawal(id).state == states.last)
                let call = try rig.submit(Wake(id)).get()
                _ = try rig.submit(Observe(id, .unknown(after: nil), of: call)).get()
                rig.pass(.seconds(24 * 3_600))
            }
            #expect(try rig.withdrawal(id).state == .held)
            #expect(rig.complaint == nil)
            // The operator has checked that no payout was made.
            _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
            let call = try rig.submit(Wake(id)).get()
            let isReturning =
                switch (states.last, call) {
                case (.pending, .findTransfer), (.sent, .reverseTransfer): true
                default: false
                }
            #expect(isReturning, "\(String(describing: call))")
        }
    }

    @Test("A user's number of open withdrawals is limited")
    func limit() throws {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 10_000)
        try rig.onboard(payee)
        for _ in 0..<WithdrawalBody.limit { _ = try rig.withdraw(100, by: payee).outcome.get() }
        #expect(try rig.withdraw(100, by: payee).refusal == Refusal(.tooManyWithdrawals))
        #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
    }

    @Test("A withdrawal whose transfer was partly reversed by hand is held for the operator")
    func partlyReversed() throws {
        var rig = FundingBooks()
        let payee = try rig.user("payee", cents: 5_000)
        try rig.onboard(payee)
        let id = try rig.withdraw(1_000, by: payee).outcome.get()
        let left = SeenTransfer(
            id: "tr_1",
            amount: 600,
            currency: "usd",
            destination: "acct_\(payee)"
        )
        _ = try rig.submit(Observe(id, .transfer(left))).get()
        #expect(try rig.withdrawal(id).state == .held)
        #expect(rig.complaint == nil)
    }

    @Test("A debt is settled from the wallet or forgiven, up to its amount")
    func debts() throws {
        var rig = FundingBooks()
        _ = try rig.submit(BindProvider(account: "acct_1", isLive: false)).get()
        let payer = try rig.user("payer")
        let shop = try rig.user("shop", cents: 400)
        let id = try rig.open(2_000, by: payer).outcome.get()
        func seen(_ refunds: [SeenReversal]) -> Observation {
            .deposit(
                SeenDeposit(
                    intent: "pi_1",
                    status: .succeeded,
                    amount: 2_000,
                    currency: "usd",
                    isLive: false,
                    deposit: id.rawValue,
                    charge: SeenCharge(transaction: nil, refunds: refunds)
                )
            )
        }
        _ = try rig.submit(Observe(id, seen([]))).get()
        try rig.pay(1_500, from: payer, to: shop)
        let out = SeenTransaction(
            id: "txn_1",
            type: "refund",
            amount: -2_000,
            fee: 0,
            currency: "usd"
        )
        _ = try rig.submit(Observe(id, seen([SeenReversal(id: "re_1", amount: 2_000, out: out)])))
            .get()
        #expect(rig.balance(.houseOf(.owed, payer)) == -1_500)
        try rig.onboard(payer)
        #expect(try rig.withdraw(1, by: payer).refusal == Refusal(.walletOwes))
        #expect(throws: Refusal.self) {
            try rig.submit(ForgiveDebt(payer, Money(minorUnits: 1_501), of: 1_500)).get()
        }
        #expect(throws: Refusal(.accountChanged)) {
            try rig.submit(ForgiveDebt(payer, Money(minorUnits: 1_000), of: 1_499)).get()
        }
        let part = ForgiveDebt(payer, Money(minorUnits: 1_000), of: 1_500)
        #expect(try rig.submit(part).get() == 500)
        #expect(rig.balance(.house(.losses)) == -1_000)
        #expect(throws: Refusal(.walletOwes)) {
            try rig.submit(ReleasePayee(payer, withdrawals: [])).get()
        }
        #expect(try rig.submit(SettleDebt(payer, in: .usd)).get() == 500)
        try rig.pay(200, from: shop, to: payer)
        #expect(try rig.submit(SettleDebt(payer, in: .usd)).get() == 300)
        #expect(rig.balance(.user(payer)) == 0)
        try rig.pay(700, from: shop, to: payer)
        #expect(try rig.submit(SettleDebt(payer, in: .usd)).get() == 0)
        #expect(rig.balance(.user(payer)) == 400 && rig.balance(.houseOf(.owed, payer)) == 0)
        #expect(try rig.submit(SettleDebt(payer, in: .usd)).get() == 0)
        #expect(rig.balance(.user(payer)) == 400)
        #expect(rig.complaint == nil)
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
