import Foundation
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

/// Tests that calls with invalid credentials, which anybody can make, do not affect other callers.
@Suite("Invalid credentials")
struct StrangerTests {
    private func add(_ database: String) async throws -> String {
        let made = try await ServerProcess.run("devices", "add", "till", "--database", database)
        #expect(made.code == 0, "\(made.text)")
        return try #require(
            made.text.split(separator: "\n").last { $0.hasPrefix("gotchu-device.") }.map(
                String.init
            )
        )
    }

    private func show(_ credential: String, _ wire: Wire) async throws -> WireReply {
        try await wire.post("/auth/token", #"{"refresh_token":"\#(credential)"}"#)
    }

    /// Returns two well-formed credentials: one of an unknown device, and one of the device of
    /// `code` with a wrong secret.
    private func guesses(at code: String) -> [String] {
        let parts = code.split(separator: ".")
        let wrong = "AAAAAAAAAAAAAAAAAAAAAA"
        return [
            "gotchu-device.x.\(parts[2]).\(parts[3])",
            "gotchu-device.\(parts[1]).\(wrong).\(parts[3])",
        ]
    }

    @Test("Invalid credentials are refused while the database is locked for writes (SQLite)")
    func sqlite() async throws {
        let server = try await ServerProcess()
        let code = try await add("sqlite:\(server.path)")
        let writer = try SQLite.Connection(path: server.path, mode: .readWrite)
        try writer.run("BEGIN IMMEDIATE")
        for guess in guesses(at: code) {
            #expect(try await show(guess, server.wire).status == 401)
        }
        try writer.run("ROLLBACK")
        #expect(try await show(code, server.wire).status == 200)
    }

    @Test(
        "Invalid credentials get 401, and sessions are created, while the devices table is locked"
    )
    func postgresql() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let server = try await ServerProcess(database: cluster.url(name))
        let code = try await add(cluster.url(name))
        let payee = try await server.wire.login("payee")
        let link = try cluster.connect(name)
        try link.connection.run([
            Query("BEGIN"), Query("LOCK TABLE devices IN EXCLUSIVE MODE"),
        ])
        for guess in guesses(at: code) {
            #expect(try await show(guess, server.wire).status == 401)
        }
        // The exchange of the valid credential waits for the lock until its timeout. The round is
        // repeated until a session is created during such a wait.
        try await eventually("a session is created while a device waits") {
            async let refreshed = show(code, server.wire)
            let deadline = ContinuousClock.now + .seconds(10)
            while try !isAnybodyWaiting(link), ContinuousClock.now < deadline { await Task.yield() }
            let created = try await server.wire.create(payee, cents: 5)
            let isStillWaiting = try isAnybodyWaiting(link)
            _ = try await refreshed
            return created.status == 200 && isStillWaiting ? true : nil
        }
        try link.connection.execute("ROLLBACK")
        #expect(try await show(code, server.wire).status == 200)
    }

    private func isAnybodyWaiting(_ link: PostgresCluster.Link) throws -> Bool {
        try link.connection.query(
            "SELECT count(*) FROM pg_locks WHERE relation = 'devices'::regclass AND NOT granted",
            read: { try $0.integer(0) }
        ) != [0]
    }

    @Test("Guessed credentials are rate-limited, and do not limit the calls of known devices")
    func budget() async throws {
        let server = try await ServerProcess()
        let database = "sqlite:\(server.path)"
        var known = try await show(try await add(database), server.wire).string("refresh_token")
        let new = try await add(database)
        let guess = guesses(at: new)[0]
        try await eventually("a guess is rate-limited") {
            try await show(guess, server.wire).status == 429 ? true : nil
        }
        let refused = try await show(guess, server.wire)
        #expect(refused.code == "RATE_LIMITED" && refused.headers["retry-after"] != nil)
        // A known device makes more calls than the twenty guesses that were accepted at once.
        for _ in 0..<21 {
            let reply = try await show(known, server.wire)
            #expect(reply.status == 200, "\(reply.text)")
            known = reply.string("refresh_token")
        }
        // A credential that was never exchanged counts as a guess. It is rate-limited at first, and
        // accepted later.
        try await eventually("the new device is accepted") {
            try await show(new, server.wire).status == 200 ? true : nil
        }
    }
}
