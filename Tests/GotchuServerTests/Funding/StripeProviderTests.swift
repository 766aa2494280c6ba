import GotchuCore
import StripeTestSupport
import TestSupport
import Testing

@testable import Funding
@testable import GotchuServer
@testable import Ledger
@testable import Stripe

/// Tests of the provider's operations with a stand-in for Stripe.
@Suite("Operations at Stripe")
struct StripeProviderTests {
    private static let created = Timestamp.now

    private static func with(
        _ body: (StripeProvider, StripeStandIn) async throws -> Void
    ) async throws {
        try await StripeStandIn.with { standIn in
            let client = StripeClient(
                address: standIn.address,
                secret: try #require(StripeSecretKey("sk_test_standin")),
                http: standIn.http
            )
            let site = try #require(PublicURL("https://pay.example"))
            try await body(StripeProvider(client: client, site: site), standIn)
        }
    }

    private static func order(_ presentation: Presentation, key: String = "k") -> DepositOrder {
        DepositOrder(
            deposit: RecordID(trusted: "d1"),
            user: UserID(trusted: "u1"),
            amount: Money(minorUnits: 2_000),
            reference: "table 7",
            presentation: presentation,
            createdAt: created,
            expiresAt: created.advanced(by: .seconds(7_200)),
            key: key
        )
    }

    private static func deposit(_ shown: StripeProvider.CallResult) throws -> SeenDeposit {
        guard case .deposit(let seen) = shown.observation else {
            throw NeverHappened(description: "a deposit is seen: \(shown.observation)")
        }
        return seen
    }

    private static func reference(_ seen: SeenDeposit) -> DepositReference {
        DepositReference(
            deposit: RecordID(trusted: "d1"),
            intent: seen.intent,
            checkout: seen.checkout
        )
    }

    @Test("A deposit is opened, declined, paid, refunded and disputed in each presentation")
    func deposit() async throws {
        for presentation in Presentation.allCases {
            try await Self.with { provider, standIn in
                let opened = await provider.perform(.openDeposit(Self.order(presentation)))
                let first = try Self.deposit(opened)
                #expect(first.status == .requiresPaymentMethod && first.amount == 2_000)
                #expect(first.deposit == "d1" && !first.isLive && first.charge == nil)
                #expect(opened.secret?.isEmpty == false)
                let name: [String: ControlValue] = [
                    "name": .text(first.checkout ?? first.intent ?? "")
                ]
                try await standIn.order("decline", name)
                let again = await provider.perform(.readDeposit(Self.reference(first)))
                #expect(try Self.deposit(again).error?.code == "generic_decline")
                #expect(again.secret == opened.secret)
                let paid = try await standIn.order("pay", name)
                let intent = try #require(paid["payment_intent"]?.text)
                try await standIn.order("refund", ["name": .text(intent), "amount": .integer(500)])
                try await standIn.order("dispute", ["name": .text(intent)])
                let last = await provider.perform(.readDeposit(Self.reference(first)))
                let seen = try Self.deposit(last)
                #expect(seen.status == .succeeded && seen.intent == intent && last.secret == nil)
                #expect(seen.charge?.transaction?.fee == 88)
                #expect(seen.charge?.refunds.map(\.out?.amount) == [-500])
                #expect(seen.charge?.disputes.map(\.out?.amount) == [-2_000])
                #expect(seen.charge?.disputes.map(\.back) == [nil])
                let found = await provider.perform(.findDeposit(Self.order(presentation)))
                #expect(try Self.deposit(found) == seen)
                let ended = await provider.perform(.endDeposit(Self.reference(seen)))
                #expect(try Self.deposit(ended) == seen, "a paid deposit cannot be ended")
            }
        }
    }

    @Test("An unpaid deposit can be ended, and a deposit that was never opened is absent")
    func end() async throws {
        for presentation in Presentation.allCases {
            try await Self.with { provider, _ in
                let order = Self.order(presentation)
                #expect(await provider.perform(.findDeposit(order)).observation == .absent)
                let opened = try Self.deposit(await provider.perform(.openDeposit(order)))
                let ended = await provider.perform(.endDeposit(Self.reference(opened)))
                #expect(try Self.deposit(ended).status == .canceled)
            }
        }
    }

    @Test("Each failure at Stripe gives an unknown outcome with the delay before the next call")
    func faults() async throws {
        try await Self.with { provider, standIn in
            try await standIn.fault("kept", ["effect": .boolean(true)])
            let order = Self.order(.clientSecret)
            let first = await provider.perform(.openDeposit(order)).observation
            #expect(first == .unknown(after: nil))
            let found = try Self.deposit(await provider.perform(.openDeposit(order)))
            #expect(found.deposit == "d1")
            let strange = DepositReference(
                deposit: RecordID(trusted: "d1"),
                intent: "pi_nobody",
                checkout: nil
            )
            let seen = await provider.perform(.readDeposit(strange)).observation
            #expect(seen == .unknown(after: StripeProvider.unreadableDelay))
            try await standIn.fault("limit")
            let limited = await provider.perform(.readDeposit(Self.reference(found))).observation
            #expect(limited == .unknown(after: StripeProvider.throttledDelay))
            try await standIn.order("revoke")
            let revoked = await provider.perform(.openDeposit(order)).observation
            #expect(revoked == .unknown(after: StripeProvider.misconfiguredDelay))
        }
    }

    @Test(
        "A transfer is refused and then sent, its two payouts fail, and it is reversed once"
    )
    func withdrawal() async throws {
        try await Self.with { provider, standIn in
            let payee = PayeeOrder(
                user: UserID(trusted: "u1"),
                createdAt: Self.created,
                pastAccounts: [],
                key: "a"
            )
            guard case .payee(let made) = await provider.perform(.openAccount(payee)).observation
            else { throw NeverHappened(description: "an account is made") }
            #expect(made.user == "u1" && !made.canReceive)
            let found = await provider.perform(.findAccount(payee)).observation
            #expect(found == .payee(made))
            let transfer = Self.transfer(to: made.account, key: "t")
            guard
                case .refused(let no) = await provider.perform(.sendTransfer(transfer)).observation
            else { throw NeverHappened(description: "it is refused") }
            #expect(no.reason == .other && no.code == "insufficient_capabilities_for_transfer")
            try await standIn.order("onboard", ["name": .text(made.account)])
            guard
                case .payee(let active) = await provider.perform(.readAccount(made.account))
                    .observation
            else { throw NeverHappened(description: "it is read") }
            #expect(active.canReceive && active.payoutsEnabled && active.currentlyDue.isEmpty)
            let poor = Self.transfer(to: made.account, key: "t2")
            guard case .refused(let short) = await provider.perform(.sendTransfer(poor)).observation
            else { throw NeverHappened(description: "it is refused") }
            #expect(short.reason == .insufficientFunds)
            try await standIn.order("fund", ["amount": .integer(9_000)])
            try await Self.payOut(provider, standIn, Self.transfer(to: made.account, key: "t3"))
        }
    }

    private static func transfer(to account: String, key: String) -> TransferOrder {
        TransferOrder(
            withdrawal: RecordID(trusted: "w1"),
            user: UserID(trusted: "u1"),
            amount: Money(minorUnits: 400),
            destination: account,
            key: key
        )
    }

    private static func payOut(
        _ provider: StripeProvider,
        _ standIn: StripeStandIn,
        _ order: TransferOrder
    ) async throws {
        #expect(await provider.perform(.findTransfer(order)).observation == .absent)
        guard case .transfer(let sent) = await provider.perform(.sendTransfer(order)).observation
        else { throw NeverHappened(description: "it is sent") }
        #expect(sent.reversal == nil && sent.destination == order.destination)
        #expect(await provider.perform(.findTransfer(order)).observation == .transfer(sent))
        for (end, code) in [("failed", "account_closed"), ("reversed", nil)] {
            let bank = PayoutOrder(
                withdrawal: order.withdrawal,
                amount: order.amount,
                account: order.destination,
                bankAccount: nil,
                createdAt: created,
                key: "p-\(end)"
            )
            guard case .payout(let out) = await provider.perform(.sendPayout(bank)).observation
            else { throw NeverHappened(description: "it is paid out") }
            #expect(out.status == .pending && out.arrivesAt != nil)
            #expect(await provider.perform(.findPayout(bank)).observation == .payout(out))
            let bounce: [String: ControlValue] = ["name": .text(out.id), "status": .text(end)]
            try await standIn.order("move_payout", bounce)
            let reference = PayoutReference(payout: out.id, account: order.destination)
            guard
                case .payout(let seen) = await provider.perform(.readPayout(reference)).observation
            else { throw NeverHappened(description: "it is read") }
            #expect(seen.status == .failed && seen.failure?.code == code)
            #expect(await provider.perform(.findPayout(bank)).observation == .absent)
        }
        let back = ReversalOrder(
            withdrawal: order.withdrawal,
            transfer: sent.id,
            amount: order.amount,
            key: "r"
        )
        guard
            case .transfer(let first) = await provider.perform(.reverseTransfer(back)).observation,
            case .transfer(let second) = await provider.perform(.readTransfer(sent.id)).observation
        else { throw NeverHappened(description: "it is taken back") }
        #expect(first == second && first.reversal != nil)
        let other = ReversalOrder(
            withdrawal: order.withdrawal,
            transfer: sent.id,
            amount: order.amount,
            key: "another"
        )
        #expect(await provider.perform(.reverseTransfer(other)).observation == .transfer(first))
    }

    @Test("Each onboarding link is new, and a link for an unknown account is refused")
    func link() async throws {
        try await Self.with { provider, _ in
            let payee = PayeeOrder(
                user: UserID(trusted: "u1"),
                createdAt: Self.created,
                pastAccounts: [],
                key: "a"
            )
            guard case .payee(let made) = await provider.perform(.openAccount(payee)).observation
            else { throw NeverHappened(description: "an account is made") }
            var urls: Set<String> = []
            for _ in 1...2 {
                let outcome = await provider.link(to: made.account, back: "/connect/refresh")
                guard case .done(let link) = outcome else {
                    throw NeverHappened(description: "there is a link: \(outcome)")
                }
                urls.insert(link.url)
            }
            #expect(urls.count == 2)
            let none = await provider.link(to: "acct_nobody", back: "/")
            #expect(none.kind == .refused)
        }
    }
}
