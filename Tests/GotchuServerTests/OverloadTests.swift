import Foundation
import GotchuAPI
import GotchuCore
import SQLite
import TestSupport
import Testing

@Suite("Overload and shutdown")
struct OverloadTests {
    @Test("Payments above the limit of the queue get status 503, and repeats pay each session once")
    func queue() async throws {
        let server = try await ServerProcess(more: ["--queue", "4"])
        let wire = server.wire
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        var open: [String] = []
        for _ in 0..<40 { open.append(try await wire.lockedSession(payee, payer, cents: 5)) }
        let sids = open
        let connection = try Connection(path: server.path, mode: .readWrite)
        try connection.run("BEGIN IMMEDIATE")
        async let sent = sendAll(sids, by: payer, wire)
        // One batch waits for the lock, and four commands wait for the next batch. The other
        // commands are refused.
        try await eventually("a command is refused") { () async throws -> Bool? in
            let count = try await wire.metric("gotchu_server_turned_away_total")
            return count.map { $0 >= 1 } == true ? true : nil
        }
        try connection.run("ROLLBACK")
        let replies = try await sent
        #expect(replies.count == 40 && replies.contains { $0.status == 503 })
        for reply in replies where reply.status != 200 {
            #expect(reply.code == "TRY_AGAIN" && reply.headers["retry-after"] == "1")
            #expect(reply.members["retryable"] as? Bool == true)
        }
        // Repeats with the same keys pay each session once.
        for sid in sids {
            let reply = try await wire.send(sid, by: payer, key: "key-of-\(sid)-0123456789")
            #expect(reply.status == 200, "\(reply.text)")
        }
        #expect(try await wire.balance(payee) == 10_000 + 40 * 5)
        #expect(try await wire.balance(payer) == 10_000 - 40 * 5)
    }

    /// Pays all sessions at once, each with its own key.
    private func sendAll(
        _ sids: [String],
        by payer: String,
        _ wire: Wire
    ) async throws -> [WireReply] {
        try await withThrowingTaskGroup(of: WireReply.self) { group in
            for sid in sids {
                group.addTask {
                    try await wire.send(sid, by: payer, key: "key-of-\(sid)-0123456789")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("One user's reads are rate-limited, and another user's reads are not affected")
    func reads() async throws {
        let server = try await ServerProcess(more: ["--calls-per-second", "10"])
        let wire = server.wire
        let payee = try await wire.login("payee")
        let sid = try await wire.create(payee, cents: 5).string("sid")
        for path in ["/wallet/me", "/wallet/sends/0123456789abcdef", "/sessions/\(sid)"] {
            try await eventually("GET \(path) is refused after too many calls") {
                let replies = try await burst(of: path, by: payee, wire)
                let refused = replies.filter { $0.status == 429 }
                #expect(refused.allSatisfy { $0.code == "RATE_LIMITED" })
                #expect(refused.allSatisfy { $0.headers["retry-after"] != nil })
                return refused.isEmpty ? nil : true
            }
        }
        let other = try await wire.login("other")
        #expect(try await wire.balance(other) == 10_000)
    }

    private func burst(of path: String, by user: String, _ wire: Wire) async throws -> [WireReply] {
        try await withThrowingTaskGroup(of: WireReply.self) { group in
            for _ in 0..<100 { group.addTask { try await wire.get(path, token: user) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("The readiness check fails within 4 seconds while the database is locked, and recovers")
    func readiness() async throws {
        let server = try await ServerProcess()
        let connection = try Connection(path: server.path, mode: .readWrite)
        try connection.run("BEGIN IMMEDIATE")
        var longest = Duration.zero
        let refused = try await eventually("the readiness check fails") {
            let began = ContinuousClock.now
            let reply = try await server.wire.get("/readyz")
            longest = max(longest, ContinuousClock.now - began)
            return reply.status == 503 ? reply : nil
        }
        refused.expectProblem(.tryAgain)
        // By default, `SQLite.Connection` waits five seconds for a lock.
        #expect(longest < .seconds(4), "\(longest)")
        #expect(try await server.wire.get("/healthz").status == 200)
        try connection.run("ROLLBACK")
        try await eventually("the server is ready again") {
            try await server.wire.get("/readyz").status == 200 ? true : nil
        }
    }

    @Test("A stopping server is not ready, still serves a payment and a stream, and then exits")
    func drain() async throws {
        let server = try await ServerProcess(more: ["--drain-seconds", "12"])
        let wire = server.wire
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        var events = try await EventStream(wire, sid, token: payee)
        #expect(try await events.next()?.status == "LOCKED")
        #expect(try await wire.get("/readyz").status == 200)
        server.program.signal(SIGTERM)
        let refused = try await eventually("the server reports that it stops") {
            let reply = try await wire.get("/readyz")
            return reply.status == 503 ? reply : nil
        }
        #expect(refused.code == "TRY_AGAIN" && refused.headers["retry-after"] != nil)
        let paid = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        #expect(paid.status == 200)
        #expect(try await events.next()?.status == "PAID")
        #expect(try await server.program.exitCode(within: .seconds(90)) == 0)
        let again = try await ServerProcess(folder: server.folder)
        let known = try await again.wire.login("payer")
        #expect(try await again.wire.balance(known) == 9_995)
    }

    @Test("A payment during a shutdown has an outcome that agrees with the payer's balance")
    func accepted() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        let connection = try Connection(path: server.path, mode: .readWrite)
        try connection.run("BEGIN IMMEDIATE")
        async let sent = try? wire.send(sid, by: payer, key: "0123456789abcdef")
        // The server may or may not have received the payment by now; both cases are valid.
        _ = try await wire.get("/healthz")
        server.program.signal(SIGTERM)
        try connection.run("ROLLBACK")
        let reply = await sent
        #expect(try await server.program.exitCode(within: .seconds(30)) == 0)
        let again = try await ServerProcess(folder: server.folder)
        let known = try await again.wire.login("payer")
        let balance = try await again.wire.balance(known)
        if reply?.status == 200 { #expect(balance == 9_995) }
        let outcome = try await again.wire.get("/wallet/sends/0123456789abcdef", token: known)
        #expect(balance == (outcome.string("outcome") == "paid" ? 9_995 : 10_000))
        let verified = try await ServerProcess.run(
            "verify",
            "--database",
            "sqlite:\(again.path)"
        )
        #expect(verified.code == 0)
    }
}
