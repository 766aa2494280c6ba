import Foundation
import Logging
import SQLite
import TestSupport
import Testing

@testable import GotchuAPI
@testable import GotchuServer

/// Tests of the codes and the format of error replies.
@Suite("Errors")
struct ErrorTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String
    private let payer: String

    init() async throws {
        server = try await ServerProcess()
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    private func expect(
        _ reply: WireReply,
        _ code: ErrorCode,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        reply.expectProblem(code, sourceLocation: sourceLocation)
    }

    @Test(
        "A malformed or invalid body is refused with VALIDATION_ERROR",
        arguments: [
            "", "[]", "{", "null", #"{"amount_cents":50.0}"#, #"{"amount_cents":1e3}"#,
            #"{"amount_cents":"50"}"#, #"{"amount_cents":0}"#, #"{"amount_cents":100000001}"#,
            #"{"amount_cents":-5}"#, #"{"amount_cents":05}"#, #"{"amount_cents":true}"#,
            #"{"amount_cents":9223372036854775808}"#, #"{"amount_cents":5,"amount_cents":6}"#,
            #"{"amount_cents":5,"amount":6}"#, #"{"amount_cents":5}{}"#, #"{"amount_cents":5,}"#,
            #"{"amount_cents":5,"currency":"doubloon"}"#, #"{"amount_cents":5,"currency":"eur"}"#,
            #"{"amount_cents":5,"ttl_seconds":0}"#, #"{"amount_cents":5,"ttl_seconds":301}"#,
            #"{"amount_cents":5,"memo":7}"#, #"{"amount_cents":5,"memo":{"a":[1]}}"#,
            #"{"amount_cents":5,"memo":"\#(String(repeating: "x", count: 141))"}"#,
            #"{"amount_cents":5,"memo":"a\#(String(repeating: "\u{301}", count: 140))"}"#,
            #"{"amount_cents":5,"memo":"\u202e00.1$"}"#, #"{"amount_cents":5,"memo":"a\u2066b"}"#,
            #"{"amount_cents":5,"memo":"a\u0007b"}"#, #"{"amount_cents":5,"memo":"a\u009bb"}"#,
        ]
    )
    func malformed(body: String) async throws {
        expect(try await wire.post("/sessions/create", body, token: payee), .validationError)
    }

    @Test("A missing amount and a malformed email address, EID or key are refused")
    func values() async throws {
        let missing = try await wire.post("/sessions/create", token: payee)
        expect(missing, .validationError)
        #expect(missing.string("detail") == "amount_cents is missing.")
        expect(try await wire.post("/auth/dev-login", #"{"email":"nobody"}"#), .validationError)
        expect(try await wire.post("/sessions/resolve", #"{"eid":"xyz"}"#), .validationError)
        expect(try await wire.get("/wallet/sends/short", token: payer), .validationError)
        expect(try await wire.get("/wallet/sends/0123456789abcdef", token: payer), .notFound)
    }

    @Test("A request without a valid token or for another user's session is refused with its code")
    func callers() async throws {
        expect(try await wire.get("/wallet/me"), .unauthorized)
        expect(try await wire.get("/wallet/me", token: "nonsense"), .unauthorized)
        expect(try await wire.get("/wallet/me", token: payee + "x"), .unauthorized)
        let parts = payee.split(separator: ".")
        let none = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
            .replacing("=", with: "")
        expect(try await wire.get("/wallet/me", token: "\(none).\(parts[1])."), .unauthorized)
        expect(
            try await wire.get("/wallet/me", token: "\(none).\(parts[1]).\(parts[2])"),
            .unauthorized
        )
        let sid = try await wire.create(payee, cents: 5).string("sid")
        expect(try await wire.get("/sessions/\(sid)", token: payer), .forbidden)
        expect(try await wire.get("/sessions/\(sid)/events", token: payer), .forbidden)
        expect(try await wire.post("/sessions/\(sid)/cancel", token: payer), .forbidden)
        expect(try await wire.lock(sid, by: payee), .ownSession)
        expect(try await wire.lock("no-such", by: payer), .notFound)
    }

    @Test("A user who calls too often is refused before the key is checked; another user is not")
    func tooManyCalls() async throws {
        var last = try await wire.send("x", by: payer, key: "short")
        expect(last, .validationError)
        for _ in 0..<10_000 where last.status == 400 {
            last = try await wire.send("x", by: payer, key: "short")
        }
        expect(last, .rateLimited)
        #expect(try await wire.create(payee, cents: 5).status == 200)
    }

    @Test("A call gets TRY_AGAIN while another program locks the database, and succeeds afterwards")
    func tryAgain() async throws {
        let connection = try Connection(path: server.path, mode: .readWrite)
        try connection.run("BEGIN IMMEDIATE")
        let reply = try await wire.create(payee, cents: 5)
        expect(reply, .tryAgain)
        #expect(reply.members["retryable"] as? Bool == true)
        try connection.run("ROLLBACK")
        #expect(try await wire.create(payee, cents: 5).status == 200)
    }

    @Test("An unexpected error becomes a reply with status 500 and without internal details")
    func unforeseen() {
        struct Unforeseen: Error {}
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let problem = Problems.refused(Unforeseen(), logger).problem
        #expect(problem.status == 500 && problem.errorCode == .internalError)
        #expect(!problem.detail.contains("Unforeseen"))
    }
}
