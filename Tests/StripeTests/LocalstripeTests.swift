import AsyncHTTPClient
import Foundation
import GotchuCore
import TestSupport
import Testing

@testable import Stripe

/// A second, independent stand-in: `localstripe`, driven by Stripe's own library.
///
/// It has no idempotency keys, no Checkout and no Connect, and refuses our calls that create
/// objects. So Stripe's library creates the payments, and our client only reads them and verifies
/// the webhooks.
@Suite("Localstripe")
struct LocalstripeTests {
    private struct Line: Decodable {
        let port: Int?
        let id: String?
        let status: String?
        let header: String?
        let body: String?
        let type: String?
    }

    private static let secret = "whsec" + "_localstripe"

    @Test("Our client reads localstripe's card payments and accepts its webhook signatures")
    func story() async throws {
        let folder = try TemporaryFolder()
        let story = try Program(
            try await Python.interpreter(),
            [Python.file("Tests/Python/localstripe_story.py"), Self.secret],
            environment: ["TMPDIR": folder.path]
        )
        let lines = try await eventually("the script has printed all events: \(story.text)") {
            let lines = Self.lines(of: story)
            let kinds = Set(lines.compactMap(\.type))
            let hasAll =
                lines.filter { $0.status != nil }.count == 3
                && kinds.isSuperset(of: [
                    "payment_intent.succeeded", "payment_intent.payment_failed",
                ])
            return hasAll ? lines : nil
        }
        for line in lines where line.header != nil {
            let header = try #require(line.header.flatMap(WebhookSignature.init))
            let body = Array(try #require(line.body).utf8)
            let secret = try #require(EndpointSecret(Self.secret))
            let other = try #require(EndpointSecret("whsec_other"))
            #expect(header.verdict(on: body, secrets: [secret], at: .now) == .genuine)
            #expect(header.verdict(on: body, secrets: [other], at: .now) == .foreign)
            let event: StripeEvent = try #require(StripeClient.decode(body), "\(line.type ?? "")")
            #expect(event.type == line.type && event.subject.id?.isEmpty == false)
        }
        let port = try #require(lines.compactMap(\.port).first)
        try await Self.read(lines, at: "http://127.0.0.1:\(port)")
    }

    private static func lines(of story: Program) -> [Line] {
        story.text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    private static func read(_ lines: [Line], at address: String) async throws {
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: StripeClient.httpConfiguration
        )
        let secret = try #require(StripeSecretKey("sk_test_12345"))
        let client = StripeClient(address: address, secret: secret, http: http)
        for line in lines {
            guard let id = line.id, let status = line.status else { continue }
            let outcome = await client.send(.paymentIntent(id))
            if case .done(let intent) = outcome {
                #expect(intent.status.rawValue == status && intent.amount == 2_000)
                #expect(intent.metadata == ["gotchu_deposit": "d1"])
            } else {
                Issue.record("\(id) is read: \(outcome)")
            }
        }
        try await http.shutdown()
    }
}
