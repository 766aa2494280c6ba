import GotchuCore
import Ledger
import TestSupport
import Testing

@testable import Funding

@Suite("Decisions about observations")
struct TotalTests {
    private static let observations: [Observation] = {
        var all: [Observation] = [.absent, .unknown(after: nil), .unknown(after: .seconds(60))]
        for reason in [ProviderRefusal.Reason.insufficientFunds, .keyReused, .other] {
            all.append(.refused(ProviderRefusal(reason, code: "code", message: "message")))
        }
        for status in SeenDeposit.Status.allCases {
            for amount: Int64 in [1_000, 1, .max, .min] {
                all.append(
                    .deposit(
                        SeenDeposit(
                            intent: "pi_1",
                            status: status,
                            amount: amount,
                            currency: "usd",
                            isLive: false,
                            deposit: "d"
                        )
                    )
                )
            }
        }
        for reversal in [nil, "trr_1"] {
            all.append(
                .transfer(
                    SeenTransfer(
                        id: "tr_1",
                        amount: 1_000,
                        currency: "usd",
                        destination: "acct_1",
                        reversal: reversal
                    )
                )
            )
        }
        for status in SeenPayout.Status.allCases {
            all.append(
                .payout(SeenPayout(id: "po_1", status: status, amount: 1_000, currency: "usd"))
            )
        }
        for canReceive in [true, false] {
            all.append(
                .payee(
                    SeenPayee(
                        account: "acct_1",
                        user: nil,
                        canReceive: canReceive,
                        chargesEnabled: false,
                        payoutsEnabled: canReceive,
                        detailsSubmitted: true
                    )
                )
            )
        }
        return all
    }()

    @Test("Random observations in random states are decided and leave the ledger consistent")
    func total() throws {
        var random = SeededGenerator("Any observation")
        for _ in 0..<50 * effort {
            var rig = FundingBooks()
            let user = try rig.user("user", cents: 50_000)
            try rig.onboard(user)
            let ids = [
                try rig.open(1_000, by: user).outcome.get(),
                try rig.withdraw(1_000, by: user).outcome.get(),
                Payee.id(of: user),
            ]
            for _ in 0..<60 {
                let id = try #require(ids.randomElement(using: &random))
                if Bool.random(using: &random) {
                    _ = try rig.submit(Wake(id)).get()
                } else {
                    let observation = try #require(Self.observations.randomElement(using: &random))
                    _ = try rig.submit(Observe(id, observation)).get()
                }
                rig.pass(.seconds(Int64.random(in: 0...40_000, using: &random)))
                #expect(rig.complaint == nil, "seed \(random.seed)")
            }
        }
    }

    @Test(
        "The platform's own balance transactions are booked once, and another provider is refused"
    )
    func classes() throws {
        var rig = FundingBooks()
        _ = try rig.submit(BindProvider(account: "acct_1", isLive: false)).get()
        let types = [
            ("charge", 100), ("refund", -100), ("transfer", -5), ("stripe_fee", -7),
            ("topup", 1_000), ("payout", -400), ("a_type_of_next_year", 3), ("adjustment", -9),
        ]
        var sum: Int64 = 0
        for (index, type) in types.enumerated() {
            let transaction = SeenTransaction(
                id: "txn_\(index)",
                type: type.0,
                amount: Int64(type.1),
                fee: 1,
                currency: "usd",
                source: type.0 == "adjustment" ? "dp_1" : nil
            )
            let isOurs = TransactionClass(transaction) != .ofRecord
            #expect(try rig.submit(BookTransaction(transaction)).get() == isOurs, "\(type)")
            #expect(try rig.submit(BookTransaction(transaction)).get() == false, "\(type)")
            if isOurs { sum += Int64(type.1) - 1 }
        }
        #expect(rig.balance(.house(.stripeBalance)) == -sum)
        #expect(rig.complaint == nil)
        let other = BindProvider(account: "acct_2", isLive: false)
        #expect(throws: Refusal(.otherProvider)) { try rig.submit(other).get() }
        let live = BindProvider(account: "acct_1", isLive: true)
        #expect(throws: Refusal(.otherProvider)) { try rig.submit(live).get() }
    }
}
