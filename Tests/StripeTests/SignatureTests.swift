import GotchuCore
import TestSupport
import Testing

@testable import Stripe

@Suite("Signatures of Stripe's webhooks")
struct SignatureTests {
    /// Returns a header with signatures that Stripe's own library computes.
    private static func signed(
        _ body: String,
        secrets: [String],
        at seconds: Int64
    ) async throws -> String {
        let script = """
            import sys, stripe
            body, at, secrets = sys.argv[1], sys.argv[2], sys.argv[3:]
            codes = [stripe.WebhookSignature._compute_signature(f"{at}.{body}", s) for s in secrets]
            print(f"t={at}," + ",".join(f"v1={code}" for code in codes), end="")
            """
        let arguments = ["-c", script, body, String(seconds)] + secrets
        let python = try Program(try await Python.interpreter(), arguments)
        guard try await python.exitCode() == 0 else {
            throw NeverHappened(description: "Stripe's library signs: \(python.text)")
        }
        return python.text
    }

    private static let body = #"{"id":"evt_1","object":"event","words":"ü 💳"}"#
    private static let at: Int64 = 1_795_390_000
    /// A secret that looks like base64. Standard Webhooks would decode the secret; Stripe uses its
    /// text as the key.
    private static let text = "whsec" + "_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private static func verdict(
        _ header: String,
        _ secrets: [String],
        body: String = Self.body,
        at seconds: Int64 = Self.at
    ) -> WebhookSignature.Verdict? {
        WebhookSignature(header)?.verdict(
            on: Array(body.utf8),
            secrets: secrets.compactMap(EndpointSecret.init),
            at: Timestamp(milliseconds: seconds * 1_000)
        )
    }

    @Test("A body signed by Stripe's own library is genuine, with one of several secrets")
    func genuine() async throws {
        let header = try await Self.signed(Self.body, secrets: [Self.text], at: Self.at)
        #expect(Self.verdict(header, [Self.text]) == .genuine)
        #expect(Self.verdict(header, ["whsec_other", Self.text]) == .genuine)
        #expect(Self.verdict(header, ["whsec_other"]) == .foreign)
        #expect(Self.verdict(header, []) == .foreign)
    }

    @Test("One of two valid signatures is enough while a secret is rolled")
    func rolled() async throws {
        let header = try await Self.signed(
            Self.body,
            secrets: ["whsec_new", Self.text],
            at: Self.at
        )
        #expect(Self.verdict(header, [Self.text]) == .genuine)
        #expect(Self.verdict(header, ["whsec_new"]) == .genuine)
    }

    @Test("One changed byte of the body, the time or the code makes a call foreign")
    func changed() async throws {
        let header = try await Self.signed(Self.body, secrets: [Self.text], at: Self.at)
        #expect(Self.verdict(header, [Self.text], body: Self.body + " ") == .foreign)
        let later = header.replacing("t=\(Self.at)", with: "t=\(Self.at + 1)")
        #expect(Self.verdict(later, [Self.text]) == .foreign)
        let last = header.last == "0" ? "1" : "0"
        #expect(Self.verdict(header.dropLast() + last, [Self.text]) == .foreign)
    }

    @Test("A genuine call is stale 301 seconds before and after its time, and not at 300")
    func stale() async throws {
        let header = try await Self.signed(Self.body, secrets: [Self.text], at: Self.at)
        for (difference, verdict) in [
            (0, WebhookSignature.Verdict.genuine), (300, .genuine), (-300, .genuine), (301, .stale),
            (-301, .stale), (86_400, .stale),
        ] {
            let now = Self.at + Int64(difference)
            #expect(Self.verdict(header, [Self.text], at: now) == verdict, "\(difference)")
        }
    }

    @Test(
        "A header without exactly one time and some signatures is refused",
        arguments: [
            "", "t=1", "v1=00", "t=,v1=\(code)", "t=x,v1=\(code)", "t=+1,v1=\(code)",
            "t=-1,v1=\(code)", "t=1,t=2,v1=\(code)", "t=99999999999,v1=\(code)", "t=1,v0=\(code)",
            "t=1,v1=\(code)0", "t=1,v1=" + String(repeating: "+1", count: 32), "t=1,v1",
            "t=1," + String(repeating: "v1=\(code),", count: 40),
            String(repeating: ",", count: 9_999),
        ]
    )
    func malformed(header: String) {
        #expect(Self.verdict(header, [Self.text], at: 1) == nil)
    }

    private static let code = String(repeating: "0a", count: 32)

    @Test("Interpolating, reflecting or dumping a secret or a key does not show its text")
    func printing() throws {
        let secret = try #require(EndpointSecret("whsec_hidden"))
        let key = try #require(StripeSecretKey("rk_test_hidden"))
        for text in ["\(secret)", "\(key)", String(reflecting: secret), String(reflecting: key)] {
            #expect(!text.contains("hidden"))
        }
        var dumped = ""
        dump([key], to: &dumped)
        dump([secret], to: &dumped)
        #expect(!dumped.contains("hidden"))
    }

    @Test("Keys are distinguished by their mode, and other texts are refused")
    func keys() {
        #expect(StripeSecretKey("sk_test_1")?.isLive == false)
        #expect(StripeSecretKey("rk" + "_live_1")?.isLive == true)
        #expect(StripePublishableKey("pk_test_1")?.isLive == false)
        for text in ["", "sk_test_", "pk_test_1", "sk_test_a b", "sk_test_a\n", "whsec_1"] {
            #expect(StripeSecretKey(text) == nil, "\(text)")
        }
        for text in ["", "pk_test_", "sk_test_1", "pk_test_\""] {
            #expect(StripePublishableKey(text) == nil, "\(text)")
        }
        for text in ["", "whsec_", "sk_test_1", "whsec_a b"] {
            #expect(EndpointSecret(text) == nil, "\(text)")
        }
        #expect(CallKey("") == nil)
        #expect(CallKey(String(repeating: "k", count: 256)) == nil)
    }

    @Test("Queued calls are 100 ms apart, and a call that would wait over five seconds is refused")
    func line() {
        var line = CallRateLimiter.CallQueue(interval: CallRateLimiter.endpointInterval)
        let now = MonotonicTime(sinceStart: .seconds(9))
        let waits = (0..<60).map { _ in line.reserve(at: now) }
        #expect(waits.prefix(51) == (0..<51).map { .milliseconds(100 * $0) }[...])
        #expect(waits.dropFirst(51).allSatisfy { $0 == nil })
        #expect(line.reserve(at: MonotonicTime(sinceStart: .seconds(60))) == .zero)
    }

    @Test("Many calls to one endpoint do not delay a call to another")
    func endpoints() async {
        let pace = CallRateLimiter()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<60 { group.addTask { await pace.wait(for: "POST a") } }
            // The first call to this endpoint is done. The other calls wait in its queue.
            #expect(await group.next() != nil)
            let start = MonotonicTime.now
            #expect(await pace.wait(for: "GET b"))
            #expect(MonotonicTime.now - start < CallRateLimiter.maximumWait / 2)
            group.cancelAll()
        }
    }
}
