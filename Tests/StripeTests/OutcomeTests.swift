import Testing

@testable import Stripe

@Suite("Outcomes of calls to Stripe")
struct OutcomeTests {
    private static func problem(
        _ type: String,
        _ code: String = "",
        message: String = "No."
    ) -> [UInt8] {
        Array(#"{"error":{"type":"\#(type)","code":"\#(code)","message":"\#(message)"}}"#.utf8)
    }

    private static let invalid = "invalid_request_error"

    @Test(
        "Each kind of reply has the expected outcome",
        arguments: [
            (200, invalid, "", "done"), (201, "", "", "done"),
            (400, invalid, "parameter_unknown", "refused"),
            (402, "card_error", "card_declined", "refused"),
            (404, invalid, "resource_missing", "refused"),
            (400, invalid, "balance_insufficient", "insufficient"),
            (400, invalid, "insufficient_funds", "insufficient"),
            (401, invalid, "", "misconfigured"), (403, invalid, "", "misconfigured"),
            (400, "idempotency_error", "", "key_reused"),
            (409, "idempotency_error", "idempotency_key_in_use", "throttled"),
            (409, invalid, "", "throttled"), (429, invalid, "rate_limit", "throttled"),
            (500, "api_error", "", "unknown"), (503, "api_error", "", "unknown"),
            (424, "api_error", "", "unknown"), (400, "api_error", "", "unknown"),
        ]
    )
    func known(status: Int, type: String, code: String, outcome: String) {
        let reply = RawReply(status: status, body: Self.problem(type, code))
        #expect(reply.outcome.kind.rawValue == outcome)
    }

    @Test("A reply that is not Stripe's is done if its status is 2xx, and unknown otherwise")
    func total() {
        let bodies = [[], Array("<html>".utf8), Array(#"{"error":"no"}"#.utf8), [0xFF, 0]]
        for status in 0..<1_000 {
            for body in bodies {
                let name = RawReply(status: status, body: body).outcome.kind.rawValue
                #expect(name == ((200..<300).contains(status) ? "done" : "unknown"), "\(status)")
            }
            let own = RawReply(status: status, body: Self.problem(Self.invalid)).outcome.kind
                .rawValue
            if (500...).contains(status) || (..<200).contains(status) { #expect(own == "unknown") }
        }
    }

    @Test("A failure that is replayed, or must not be repeated, is unresolved")
    func kept() {
        let body = Self.problem("api_error")
        #expect(
            RawReply(status: 500, body: body, isReplay: true).outcome.kind.rawValue == "unresolved"
        )
        #expect(
            RawReply(status: 500, body: body, shouldRetry: false).outcome.kind.rawValue
                == "unresolved"
        )
        #expect(
            RawReply(status: 500, body: body, shouldRetry: true).outcome.kind.rawValue == "unknown"
        )
    }

    @Test("An error message of Stripe that contains a part of a key is dropped")
    func secrets() throws {
        for words in ["Invalid API Key: sk_test_abc", "pi_1_secret_2 is wrong", "whsec_x"] {
            let body = Self.problem(Self.invalid, message: words)
            guard case .refused(let problem) = RawReply(status: 400, body: body).outcome else {
                Issue.record("The outcome is not a refusal.")
                continue
            }
            #expect(problem.message == "")
        }
    }

    @Test("Long codes are truncated to 64 characters, and long messages to 300")
    func long() {
        let many = String(repeating: "e\u{301}", count: 100_000)
        let body = Self.problem(Self.invalid, many, message: many)
        guard case .refused(let problem) = RawReply(status: 400, body: body).outcome else {
            Issue.record("The outcome is not a refusal.")
            return
        }
        #expect(problem.code.unicodeScalars.count == 64)
        #expect(problem.message.unicodeScalars.count == 300)
    }

    @Test("An unknown enum value is read as unknown, and the rest of its object is read too")
    func words() throws {
        let text = """
            {"object":"payment_intent","id":"pi_1","amount":5,"currency":"usd","created":1,
             "status":"requires_a_dance","livemode":false,"metadata":{}}
            """
        let intent: PaymentIntent = try #require(StripeClient.decode(Array(text.utf8)))
        #expect(intent.status == .unknown)
        #expect(intent.id == "pi_1" && intent.amount == 5 && intent.currency == "usd")
        let other: StripeRefund? = StripeClient.decode(Array(text.utf8))
        #expect(other == nil, "an object of another kind is no answer")
    }

    @Test("Invalid times, and amounts that are not whole numbers, make a reply unreadable")
    func numbers() {
        for (created, amount) in [("1e300", "5"), ("-1", "5"), ("1", "5.5"), ("1", "\"5\"")] {
            let text = """
                {"object":"payment_intent","id":"pi_1","amount":\(amount),"currency":"usd",
                 "created":\(created),"status":"succeeded","livemode":false,"metadata":{}}
                """
            let intent: PaymentIntent? = StripeClient.decode(Array(text.utf8))
            #expect(intent == nil, "\(created) \(amount)")
        }
    }
}
