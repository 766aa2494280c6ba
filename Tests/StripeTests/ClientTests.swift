import AsyncHTTPClient
import GotchuCore
import StripeTestSupport
import TestSupport
import Testing

@testable import Stripe

/// Our client against the stand-in, which checks every request, reply and event against Stripe's
/// published description.
@Suite("Calls to Stripe")
struct ClientTests {
    private static let usd = Currency.usd
    private static func charging(_ amount: Int64) -> NamedAmount {
        NamedAmount(amount: amount, currency: usd, metadata: ["gotchu_deposit": "d1"])
    }

    private static func key(_ text: String) throws -> CallKey { try #require(CallKey(text)) }

    private static func checkout(
        _ amount: Int64,
        _ key: String
    ) throws -> StripeCall<CheckoutSession> {
        .createCheckout(
            charging(amount),
            reference: "d1",
            product: "Gotchu wallet",
            success: "https://pay.example/payments/done",
            cancelled: "https://pay.example/payments/cancelled",
            expiresAt: Timestamp.now.advanced(by: .seconds(7_200)),
            key: try Self.key(key)
        )
    }

    /// Returns the reply, or fails the test with the other outcome.
    private static func done<Reply>(_ outcome: StripeOutcome<Reply>) throws -> Reply {
        guard case .done(let reply) = outcome else {
            throw NeverHappened(description: "the call is done: \(outcome)")
        }
        return reply
    }

    private static func range(_ now: Timestamp = .now) -> (from: Timestamp, to: Timestamp) {
        (now.advanced(by: .seconds(-3_600)), now.advanced(by: .seconds(3_600)))
    }

    @Test("A payment can be made, read, declined, paid with its fee, refunded and disputed")
    func payment() async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client()
            let call = StripeCall.createPaymentIntent(Self.charging(2_000), key: try Self.key("a"))
            let made = try Self.done(await client.send(call))
            #expect(made.status == .requiresPaymentMethod && made.amount == 2_000 && !made.isLive)
            #expect(made.metadata == ["gotchu_deposit": "d1"] && made.clientSecret != nil)
            try await standIn.order("decline", ["name": .text(made.id)])
            let declined = try Self.done(await client.send(.paymentIntent(made.id)))
            #expect(declined.lastError?.code == "card_declined")
            try await standIn.order("set", ["fee_is_late": .boolean(true)])
            try await standIn.order("pay", ["name": .text(made.id)])
            let paid = try Self.done(await client.send(.paymentIntent(made.id)))
            let charge = try #require(paid.latestCharge?.object)
            #expect(paid.status == .succeeded && paid.amountReceived == 2_000)
            #expect(charge.balanceTransaction == nil)
            try await standIn.order("settle", ["charge": .text(charge.id)])
            let settled = try Self.done(await client.send(.paymentIntent(made.id)))
            let line = settled.latestCharge?.object?.balanceTransaction?.object
            #expect(line?.fee == 88 && line?.net == 1_912)
            let refund = try await standIn.order(
                "refund",
                ["name": .text(made.id), "amount": .integer(500)]
            )
            let name: [String: ControlValue] = ["name": refund["id"] ?? .null]
            try await standIn.order("fail_refund", name)
            let refunds = try Self.done(await client.send(.refunds(ofPaymentIntent: made.id)))
            #expect(refunds.data.first?.balanceTransaction?.object?.net == -500)
            #expect(refunds.data.first?.failureBalanceTransaction?.object?.net == 500)
            try await standIn.order("dispute", ["name": .text(made.id)])
            let disputes = try Self.done(await client.send(.disputes(ofPaymentIntent: made.id)))
            #expect(disputes.data.first?.balanceTransactions.map(\.net) == [-3_500])
            let cancel = StripeCall.cancelPaymentIntent(made.id)
            let refused = await client.send(cancel)
            #expect(refused.kind.rawValue == "refused")
        }
    }

    @Test("A checkout can be made, paid and found by time, and another checkout can be expired")
    func checkout() async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client()
            let first = try Self.checkout(700, "a")
            let made = try Self.done(await client.send(first))
            #expect(made.status == .open && made.paymentIntent == nil && made.url != nil)
            try await standIn.order("pay", ["name": .text(made.id)])
            let paid = try Self.done(await client.send(.checkout(made.id)))
            let intent = try #require(paid.paymentIntent?.object)
            #expect(paid.status == .complete && intent.status == .succeeded)
            #expect(intent.metadata == ["gotchu_deposit": "d1"])
            #expect(intent.latestCharge?.object?.balanceTransaction?.object?.fee == 51)
            let other = try Self.done(await client.send(try Self.checkout(900, "b")))
            let expire = StripeCall.expireCheckout(other.id)
            #expect(try Self.done(await client.send(expire)).status == .expired)
            let (from, to) = Self.range()
            let found = try Self.done(await client.send(.checkouts(from: from, to: to, after: nil)))
            #expect(found.data.map(\.id) == [other.id, made.id] && !found.hasMore)
            let intents = StripeCall.paymentIntents(from: from, to: to, after: nil)
            #expect(try Self.done(await client.send(intents)).data.map(\.id) == [intent.id])
        }
    }

    @Test("A payee can be onboarded and paid out, and a transfer can be reversed")
    func payee() async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client()
            let account = try Self.done(
                await client.send(
                    .createAccount(
                        metadata: ["gotchu_user": "7"],
                        key: try Self.key("a")
                    )
                )
            )
            #expect(account.transfers == .inactive && !account.currentlyDue.isEmpty)
            let link = StripeCall.createAccountLink(
                account: account.id,
                refresh: "https://pay.example/connect/refresh",
                back: "https://pay.example/connect/return",
                key: try Self.key("l")
            )
            #expect(try Self.done(await client.send(link)).url.hasPrefix("http"))
            let moving = NamedAmount(amount: 400, currency: Self.usd, metadata: ["w": "1"])
            func transfer(_ key: String) throws -> StripeCall<StripeTransfer> {
                .createTransfer(moving, to: account.id, group: "w1", key: try Self.key(key))
            }
            #expect(await client.send(try transfer("t1")).kind.rawValue == "refused")
            try await standIn.order("onboard", ["name": .text(account.id)])
            let active = try Self.done(await client.send(.account(account.id)))
            #expect(active.transfers == .active && active.isPayoutsEnabled)
            #expect(await client.send(try transfer("t2")).kind.rawValue == "insufficient")
            try await standIn.order("fund", ["amount": .integer(1_000)])
            #expect(
                await client.send(try transfer("t2")).kind.rawValue == "insufficient",
                "the refusal is kept under its key"
            )
            let sent = try Self.done(await client.send(try transfer("t3")))
            let payout = StripeCall.createPayout(
                moving,
                from: account.id,
                destination: nil,
                key: try Self.key("p")
            )
            let out = try Self.done(await client.send(payout))
            #expect(out.status == .pending && out.metadata == ["w": "1"])
            for status in ["paid", "failed"] {
                let order: [String: ControlValue] = [
                    "name": .text(out.id), "status": .text(status),
                ]
                try await standIn.order("move_payout", order)
            }
            let failed = try Self.done(await client.send(.payout(out.id, of: account.id)))
            #expect(failed.status == .failed && failed.failureCode == "account_closed")
            let reversal = StripeCall.createReversal(
                of: sent.id,
                amount: 400,
                metadata: [:],
                key: try Self.key("v")
            )
            #expect(try Self.done(await client.send(reversal)).amount == 400)
            let found = try Self.done(await client.send(.transfers(group: "w1")))
            #expect(found.data.first?.reversals.data.map(\.amount) == [400])
            try await Self.books(client, account.id, payout: out.id)
        }
    }

    /// Checks the balances, the balance transactions and the events.
    private static func books(
        _ client: StripeClient,
        _ account: String,
        payout: String
    ) async throws {
        let from = range().from
        let platform = try done(await client.send(.balance(of: nil)))
        #expect(platform.available.map(\.amount) == [1_000])
        let lines = try done(await client.send(.balanceTransactions(from: from, after: nil)))
        #expect(lines.data.map(\.net).reduce(0, +) == 1_000)
        #expect(lines.data.map(\.type) == ["transfer_refund", "transfer", "topup"])
        let theirs = try done(await client.send(.balance(of: account)))
        #expect(theirs.available.map(\.amount) == [0])
        let payouts = try done(await client.send(.payouts(of: account, from: from, after: nil)))
        #expect(payouts.data.map(\.id) == [payout])
        let accounts = try done(await client.send(.accounts(from: from, after: nil)))
        #expect(accounts.data.map(\.id) == [account])
        #expect(try done(await client.send(.ownAccount)).id == "acct_platform")
        let events = try done(await client.send(.events(from: from, to: nil, after: nil)))
        let kinds = Set(events.data.map(\.type))
        #expect(kinds.isSuperset(of: ["account.updated", "payout.failed", "transfer.reversed"]))
        let ofPayout = events.data.first { $0.type == "payout.failed" }
        #expect(ofPayout?.account == account && ofPayout?.subject.id == payout)
        let rest = try done(
            await client.send(.events(from: from, to: nil, after: events.data.first?.id))
        )
        #expect(rest.data.count == events.data.count - 1)
    }
}
