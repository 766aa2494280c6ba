import GotchuAPI
import GotchuCore
import Testing

@testable import PaymentClient

@Suite("The meaning of the payment server's answers")
struct OutcomeTests {
    private let busy = Array(#"{"code":"SESSION_BUSY","detail":"Another payer was first."}"#.utf8)

    @Test("An answer with status 200 is a success")
    func success() {
        guard case .success(let body) = classify(200, busy) else {
            Issue.record("Status 200 is not a success")
            return
        }
        #expect(body == busy)
    }

    @Test(
        "A problem document with a 4xx status other than 401, 408 and 429 is a refusal",
        arguments: [400, 402, 403, 404, 409, 410, 422]
    )
    func refused(status: Int) {
        guard case .refused(let problem) = classify(status, busy) else {
            Issue.record("\(status)")
            return
        }
        #expect(problem.errorCode == .sessionBusy)
        #expect(problem.status == status)
        #expect(problem.detail == "Another payer was first.")
    }

    @Test("A server's texts are cut to a readable length, and an empty reason is replaced")
    func limits() {
        let long = String(repeating: "x", count: 150_000)
        for (body, detail) in [
            (#"{"code":"\#(long)","detail":"\#(long)"}"#, nil),
            (#"{"code":"SESSION_PAID","detail":"","error":""}"#, "SESSION_PAID"),
            (#"{"code":"","detail":""}"#, "The payment server gives no reason."),
        ] {
            guard case .refused(let problem) = classify(409, Array(body.utf8)) else {
                Issue.record("\(body.prefix(80))")
                continue
            }
            #expect(problem.code.count <= 64)
            #expect(problem.detail.count == (detail?.count ?? 300))
            #expect(problem.detail == detail ?? problem.detail)
        }
        let pile = "Z" + String(repeating: "\u{0301}", count: 10_000)
        #expect(pile.cut(to: 140).unicodeScalars.count == 140)
        #expect("Corner Shop".cut(to: 11) == "Corner Shop")
    }

    @Test("An answer with status 401 means that the login is refused")
    func unauthorized() {
        guard case .unauthorized = classify(401, busy) else {
            Issue.record("Status 401 does not refuse the login")
            return
        }
    }

    @Test(
        "An answer with 408, 429 or 5xx leaves the outcome unknown, even with a problem document",
        arguments: [408, 429, 500, 502, 503, 504]
    )
    func unknown(status: Int) {
        guard case .unknown(let outage) = classify(status, busy, retryAfter: "7") else {
            Issue.record("\(status)")
            return
        }
        #expect(outage.code == (status == 429 ? .limited : .busy))
        #expect(outage.retryAfter == .seconds(7))
    }

    @Test(
        "An answer without a valid problem document leaves the outcome unknown",
        arguments: [
            (404, "<html>captive portal</html>"), (403, "{}"), (409, ""), (302, "moved"),
            (400, #"{"code": 5}"#),
        ]
    )
    func notOurs(status: Int, body: String) {
        guard case .unknown(let outage) = classify(status, Array(body.utf8)) else {
            Issue.record("\(status) \(body)")
            return
        }
        #expect(outage.code == .unreadable)
    }

    @Test("The amounts of a problem are parsed as numbers and as strings")
    func integers() throws {
        for body in [
            #"{"code":"X","detail":"d","required_cents":5,"available_cents":"3"}"#,
            #"{"code":"X","error":"d","required_cents":"5","available_cents":3}"#,
        ] {
            guard case .refused(let problem) = classify(402, Array(body.utf8)) else {
                Issue.record("\(body)")
                return
            }
            #expect(problem.requiredCents == 5 && problem.availableCents == 3)
            #expect(problem.detail == "d")
            #expect(problem.title == "Payment Required")
        }
    }

    private func classify(
        _ status: Int,
        _ body: [UInt8],
        retryAfter: String? = nil
    ) -> Answer<[UInt8]> {
        PaymentClient.classify(status: status, body: body, retryAfter: retryAfter)
    }
}
