import GotchuAPI
import Postgres
import SQLite
import TestSupport
import Testing

@Suite("Every code")
struct EveryCodeTests {
    /// The codes that need Stripe, and FUNDING_NOT_CONFIGURED, for users who cannot deposit.
    private static let ofProvider: Set<ErrorCode> = [
        .fundingNotConfigured, .payeeNotOnboarded, .walletOwes, .providerRefused,
        .providerUnavailable, .signatureInvalid,
    ]

    /// INTERNAL_ERROR is excluded too, because no request may cause it.
    @Test(
        "A development server returns all described codes but those of Stripe, and no others",
        arguments: DatabaseKind.all
    )
    func all(kind: DatabaseKind) async throws {
        let replies = try await ErrorCalls(kind).replies()
        for reply in replies {
            if let code = reply.code.flatMap(ErrorCode.init) { reply.expectProblem(code) }
        }
        let seen = Set(replies.compactMap(\.code))
        let described = try await ReplyValidator.shared.contract.codes
        let others = Set(Self.ofProvider.union([.internalError]).map(\.rawValue))
        #expect(described.subtracting(seen) == others)
        #expect(seen.subtracting(described).isEmpty)
    }
}

/// Calls that cause each error of a development server.
private struct ErrorCalls {
    private let database: CheckedDatabase
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String
    private let payer: String
    private let key = "0123456789abcdef-"

    init(_ kind: DatabaseKind) async throws {
        let folder = try TemporaryFolder()
        database = try kind.makeDatabase(in: folder)
        server = try await ServerProcess(
            folder: folder,
            database: database.address,
            more: ["--contests"]
        )
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    func replies() async throws -> [WireReply] {
        let replies =
            try await requests() + sessions() + refunds() + splits() + desks() + funding()
            + devices()
        return try await replies + expired() + [lockedDatabase(), tooMany()]
    }

    /// Checks that each reply has the code at the same position; `nil` stands for a success.
    private func expect(_ replies: [WireReply], _ codes: [ErrorCode?]) {
        #expect(replies.map(\.code) == codes.map { $0?.rawValue })
    }

    /// Errors of the request: its type, size, body, token, key, address and method.
    private func requests() async throws -> [WireReply] {
        let text = try await wire.call(
            "POST",
            "/sessions/create",
            "{}",
            token: payee,
            headers: ["Content-Type": "text/plain"]
        )
        let large = #"{"amount_cents":1,"memo":"\#(String(repeating: "x", count: 70_000))"}"#
        let wrongMethod = try await wire.get("/wallet/send", token: payer)
        #expect(wrongMethod.headers["allow"] == "POST")
        let replies = [
            text,
            try await wire.post("/sessions/create", large, token: payee),
            try await wire.create(payee, cents: 0),
            try await wire.create("no token", cents: 5),
            try await wire.post("/wallet/send", #"{"sid":"x"}"#, token: payer),
            try await wire.get("/no/such/address"),
            wrongMethod,
        ]
        expect(
            replies,
            [
                .unsupportedMediaType, .contentTooLarge, .validationError, .unauthorized,
                .idempotencyKeyRequired, .notFound, .methodNotAllowed,
            ]
        )
        return replies + [try await wire.call("GET", "/sessions/x/events", large, token: payee)]
    }

    /// A code that is used twice, and a revoked device.
    private func devices() async throws -> [WireReply] {
        let place = ["--database", database.address]
        func manage(_ arguments: [String]) async throws -> String {
            let run = try Program("gotchu-server", ["devices"] + arguments + place)
            #expect(try await run.exitCode() == 0, "\(run.text)")
            return run.text
        }
        let code = try await manage(["add", "till"]).split(separator: "\n").last ?? ""
        let body = #"{"refresh_token":"\#(code)"}"#
        var replies: [WireReply] = []
        for _ in 0..<2 { replies.append(try await wire.post("/auth/token", body)) }
        _ = try await manage(["revoke", String(code.split(separator: ".")[1])])
        replies.append(try await wire.post("/auth/token", body))
        expect(replies, [nil, .deviceCodeUsed, .deviceRevoked])
        return replies
    }

    /// Cancellations of a finished deposit and withdrawal, and a deposit above the limit.
    private func funding() async throws -> [WireReply] {
        let place = "/api/wallet/withdrawals"
        let paid = try await wire.post(
            place,
            #"{"amount_cents":500}"#,
            token: payer,
            key: key + "w"
        )
        let id = paid.string("withdrawal_id")
        let intents = "/api/payments/intents"
        let made = try await wire.post(
            intents,
            #"{"amount_cents":500}"#,
            token: payer,
            key: key + "d"
        )
        return [
            try await wire.post(
                "\(intents)/\(made.string("payment_intent_id"))/cancel",
                token: payer
            ),
            try await wire.post("\(place)/\(id)/cancel", token: payer),
            try await wire.post(
                intents,
                #"{"amount_cents":50001}"#,
                token: payer,
                key: key + "i"
            ),
        ]
    }

    /// Errors from the state of a session, the payment's amount or the balance.
    private func sessions() async throws -> [WireReply] {
        let other = try await wire.login("other")
        let sid = try await wire.create(payee, cents: 5).string("sid")
        var replies = [
            try await wire.send(sid, by: payer, key: key + "1"),
            try await wire.lock(sid, by: payee),
            try await wire.lock(sid, by: payer),
            try await wire.lock(sid, by: other),
            try await wire.get("/sessions/\(sid)", token: other),
            try await wire.send(
                sid,
                by: payer,
                key: key + "2",
                more: #","expected_amount_cents":6"#
            ),
            try await wire.send(sid, by: payer, key: key + "6", more: #","tip_cents":1"#),
            try await wire.send(sid, by: payer, key: key + "3"),
            try await wire.send(
                sid,
                by: payer,
                key: key + "3",
                more: #","expected_amount_cents":6"#
            ),
            try await wire.lock(sid, by: other),
        ]
        let cancelled = try await wire.create(payee, cents: 5)
        let cancelledID = cancelled.string("sid")
        _ = try await wire.post("/sessions/\(cancelledID)/cancel", token: payee)
        replies.append(try await wire.lock(cancelledID, by: payer))
        replies.append(try await resolve(cancelled.string("eid")))
        let expensive = try await wire.lockedSession(payee, payer, cents: 1_000_000)
        replies.append(try await wire.send(expensive, by: payer, key: key + "4"))
        let rotated = try await wire.create(payee, cents: 5).string("sid")
        var last = try await wire.post("/sessions/\(rotated)/eids", token: payee)
        for _ in 0..<100 where last.status == 200 {
            last = try await wire.post("/sessions/\(rotated)/eids", token: payee)
        }
        replies.append(last)
        expect(
            replies,
            [
                .sessionNotLocked, .ownSession, nil, .sessionBusy, .forbidden, .amountChanged,
                .tipNotAllowed, nil, .idempotencyKeyReused, .sessionPaid, .sessionCancelled,
                .sessionCancelled, .insufficientWalletBalance, .tooManyRotations,
            ]
        )
        return replies
    }

    private func resolve(_ eid: String) async throws -> WireReply {
        try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
    }

    private func refunds() async throws -> [WireReply] {
        func refund(_ sid: String, _ body: String, _ number: Int) async throws -> WireReply {
            try await wire.post(
                "/sessions/\(sid)/refund",
                body,
                token: payee,
                key: "\(key)refund-\(number)"
            )
        }
        let unpaid = try await wire.lockedSession(payee, payer, cents: 5)
        let paid = try await wire.lockedSession(payee, payer, cents: 5)
        _ = try await wire.send(paid, by: payer, key: key + "5")
        return [
            try await refund(unpaid, "{}", 1), try await refund(paid, #"{"amount_cents":6}"#, 2),
            try await refund(paid, "{}", 3), try await refund(paid, "{}", 4),
        ]
    }

    /// A lock of a share that does not exist, and a refund of a whole split bill.
    private func splits() async throws -> [WireReply] {
        let more = #","kind":"split","shares":2"#
        let sid = try await wire.create(payee, cents: 10, more: more).string("sid")
        let body = #"{"sid":"\#(sid)","place":3}"#
        return [
            try await wire.post("/sessions/lock", body, token: payer),
            try await wire.post("/sessions/\(sid)/refund", "{}", token: payee, key: "\(key)split"),
        ]
    }

    /// Calls at desks of contests that are unknown, drafts, already joined, full, locked and
    /// cancelled.
    private func desks() async throws -> [WireReply] {
        let bodies = ["join": #"{"entry_fee_cents":500}"#, "cancel": #"{"reason":"Rain."}"#]
        func call(_ id: String, _ call: String, _ token: String) async throws -> WireReply {
            try await wire.post(
                "/api/contests/\(id)/\(call)",
                bodies[call] ?? "{}",
                token: token,
                key: ContestRig.key()
            )
        }
        func open(_ id: String) async throws -> WireReply {
            let body = #"{"kind":"entry","contest_id":"\#(id)"}"#
            return try await wire.post("/sessions/create", body, token: payee)
        }
        let body = ContestRig.body(more: #","max_entries":2"#)
        let key = ContestRig.key()
        let id = try await wire.post("/api/contests", body, token: payee, key: key).string("id")
        var replies = [try await open(ContestRig.key().lowercased()), try await open(id)]
        _ = try await call(id, "publish", payee)
        let sid = try await open(id).string("sid")
        let others = [try await wire.login("other"), try await wire.login("another")]
        _ = try await call(id, "join", others[0])
        replies.append(try await wire.lock(sid, by: others[0]))
        _ = try await call(id, "join", others[1])
        replies.append(try await wire.lock(sid, by: payer))
        _ = try await call(id, "lock", payee)
        replies.append(try await wire.lock(sid, by: payer))
        _ = try await call(id, "cancel", payee)
        return replies + [try await wire.lock(sid, by: payer)]
    }

    /// Calls on an expired session.
    private func expired() async throws -> [WireReply] {
        let session = try await wire.create(payee, cents: 5, more: #","ttl_seconds":1"#)
        let sid = session.string("sid")
        let locked = try await eventually("the session expires") {
            let reply = try await wire.lock(sid, by: payer)
            return reply.code == ErrorCode.sessionExpired.rawValue ? reply : nil
        }
        let cancelled = try await wire.post("/sessions/\(sid)/cancel", token: payee)
        // On PostgreSQL, reads may show the expiry later.
        let resolved = try await eventually("the EID of the session expires") {
            let reply = try await resolve(session.string("eid"))
            return reply.code == ErrorCode.sessionExpired.rawValue ? reply : nil
        }
        expect([cancelled], [.sessionExpired])
        return [locked, cancelled, resolved]
    }

    private func lockedDatabase() async throws -> WireReply {
        switch database {
        case .sqlite(let path):
            let connection = try SQLite.Connection(path: path, mode: .readWrite)
            try connection.run("BEGIN IMMEDIATE")
            let reply = try await wire.create(payee, cents: 5)
            try connection.run("ROLLBACK")
            return reply
        case .postgresql(let url):
            let connection = try Postgres.Connection(try ConnectionSettings(url: url))
            try connection.execute("BEGIN; LOCK TABLE records")
            let reply = try await wire.create(payee, cents: 5)
            try connection.execute("ROLLBACK")
            return reply
        }
    }

    private func tooMany() async throws -> WireReply {
        var last = try await resolve("0000000000")
        for _ in 0..<100 where last.status == 404 { last = try await resolve("0000000000") }
        return last
    }
}
