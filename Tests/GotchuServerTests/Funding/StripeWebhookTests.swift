import Crypto
import Foundation
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

@Suite("The address of Stripe's webhooks")
struct StripeWebhookTests {
    private static let path = "/api/webhooks/stripe"

    private static func event(
        _ type: String,
        _ object: String,
        isLive: Bool = false
    ) -> String {
        """
        {"id":"evt_1","object":"event","type":"\(type)","created":1,"livemode":\(isLive),
         "data":{"object":\(object)}}
        """
    }

    private static func header(
        _ body: String,
        secret: String = FundingRig.secret,
        skew: Double = 0
    ) -> String {
        let seconds = Int(Date().timeIntervalSince1970 + skew)
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(seconds).\(body)".utf8), using: key)
        return "t=\(seconds),v1=" + code.map { String(format: "%02x", $0) }.joined()
    }

    private static func send(
        _ body: String,
        _ header: String?,
        to wire: Wire
    ) async throws -> WireReply {
        try await wire.call(
            "POST",
            path,
            body,
            headers: header.map { ["Stripe-Signature": $0] } ?? [:]
        )
    }

    @Test("A webhook without a valid and recent signature of Stripe is refused and counted")
    func forged() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let body = Self.event(
                "payment_intent.succeeded",
                #"{"id":"pi_1","object":"payment_intent"}"#
            )
            let headers = [
                nil, "", "t=1", Self.header(body, secret: "whsec_other"), Self.header(body + " "),
                Self.header(body, skew: -301), Self.header(body, skew: 302),
            ]
            for header in headers {
                let reply = try await Self.send(body, header, to: wire)
                #expect(reply.status == 400 && reply.code == "SIGNATURE_INVALID", "\(reply.text)")
            }
            let name = "gotchu_server_stripe_events_total"
            #expect(try await wire.metric(name, #"outcome="forged""#) == 5)
            #expect(try await wire.metric(name, #"outcome="stale""#) == 2)
            let good = try await Self.send(body, Self.header(body), to: wire)
            #expect(good.status == 200 && good.string("stripe_event_id") == "evt_1")
        }
    }

    @Test("An event that is signed with either secret is acknowledged, even if it is unreadable")
    func received() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let intent = #"{"id":"pi_1","object":"payment_intent","metadata":{}}"#
            let ours =
                #"{"id":"pi_1","object":"payment_intent","metadata":{"gotchu_deposit":"d9"}}"#
            let cases = [
                (Self.event("payment_intent.succeeded", intent), "foreign"),
                (Self.event("payment_intent.succeeded", ours), "missing"),
                (Self.event("payment_intent.succeeded", ours, isLive: true), "other_mode"),
                (Self.event("customer.created", #"{"id":"cus_1","object":"customer"}"#), "ignored"),
                (#"{"object":"event"}"#, "unreadable"), ("[[[[", "unreadable"),
            ]
            for (body, outcome) in cases {
                let before = try await Self.count(outcome, wire)
                for secret in [FundingRig.secret, "whsec" + "_rolled"] {
                    let header = Self.header(body, secret: secret)
                    let reply = try await Self.send(body, header, to: wire)
                    #expect(reply.status == 200, "\(outcome): \(reply.text)")
                }
                #expect(try await Self.count(outcome, wire) == before + 2, "\(outcome)")
            }
        }
    }

    private static func count(_ outcome: String, _ wire: Wire) async throws -> Double {
        let page = try await wire.get("/metrics").text
        return page.split(separator: "\n")
            .filter {
                $0.hasPrefix("gotchu_server_stripe_events_total")
                    && $0.contains(#"outcome="\#(outcome)""#)
            }
            .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            .reduce(0, +)
    }

    @Test("A body of 512 KiB is accepted, and one more byte is refused")
    func size() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let short = Self.event("customer.created", #"{"object":"customer"}"#)
            let padding = StripeWebhook.bodyLimit - short.utf8.count
            let most = short + String(repeating: " ", count: padding)
            let taken = try await Self.send(most, Self.header(most), to: wire)
            #expect(taken.status == 200, "\(taken.text)")
            let more = most + " "
            let refused = try await Self.send(more, Self.header(more), to: wire)
            #expect(refused.status == 413)
        }
    }

    @Test("Two hundred forged webhooks do not block a valid webhook from the same address")
    func flood() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            for _ in 0..<200 {
                let reply = try await Self.send("{}", "t=1", to: wire)
                #expect(reply.status == 400)
            }
            let body = Self.event("customer.created", #"{"id":"cus_1","object":"customer"}"#)
            #expect(try await Self.send(body, Self.header(body), to: wire).status == 200)
        }
    }

    @Test("A server without a provider refuses webhooks")
    func none() async throws {
        let server = try await ServerProcess()
        let reply = try await Self.send("{}", "t=1", to: server.wire)
        #expect(reply.status == 404 && reply.code == "FUNDING_NOT_CONFIGURED")
    }
}
