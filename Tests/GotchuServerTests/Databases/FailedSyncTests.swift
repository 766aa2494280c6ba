import Foundation
import Ledger
import TestSupport
import Testing

/// Tests with a disk that fails to sync.
@Suite("A disk that fails to sync")
struct FailedSyncTests {
    @Test(
        "A payment whose sync fails has an unknown outcome, and a later power cut loses no payment"
    )
    func failedSync() async throws {
        var generator = SeededGenerator("A failed sync")
        let folder = try TemporaryFolder()
        let cut = try await PowerCut(in: folder, watching: "\(folder.path)/books.db")
        let first = try await ServerProcess(folder: folder, environment: cut.environment)
        let payee = try await first.wire.login("payee")
        let payer = try await first.wire.login("payer")
        var sessions: [String] = []
        for _ in 0..<4 {
            sessions.append(try await first.wire.lockedSession(payee, payer, cents: 10))
        }

        try cut.failSyncs(true)
        let reply = try await first.wire.send(sessions[0], by: payer, key: Self.key(0))
        #expect(reply.status == 503 && reply.code == "TRY_AGAIN")
        #expect(reply.text.contains("not known") && !reply.text.contains("Nothing was decided"))
        // The server does not know the content of the disk now. It exits with a code that makes
        // systemd restart it.
        #expect(try await first.program.exitCode() == 74, "\(first.program.text)")
        try cut.failSyncs(false)

        // The payment is in the file although its sync failed.
        let second = try await ServerProcess(folder: folder, environment: cut.environment)
        let outcome = try await second.wire.get("/wallet/sends/\(Self.key(0))", token: payer)
        #expect(outcome.status == 200)
        let again = try await second.wire.send(sessions[0], by: payer, key: Self.key(0))
        #expect(again.status == 200 && again.headers["idempotent-replayed"] == "true")
        for number in 1..<4 {
            let sent = try await second.wire.send(
                sessions[number],
                by: payer,
                key: Self.key(number)
            )
            #expect(sent.status == 200)
        }
        #expect(try await second.wire.balance(payer) == 10_000 - 40)
        second.program.signal(SIGKILL)
        try await second.program.exitCode()

        let after = try TemporaryFolder()
        _ = try cut.restore(as: "\(after.path)/books.db", using: &generator)
        try FileManager.default.copyItem(
            atPath: "\(folder.path)/books.db.dev-secret",
            toPath: "\(after.path)/books.db.dev-secret"
        )
        let third = try await ServerProcess(folder: after)
        for number in 0..<4 {
            let kept = try await third.wire.get("/wallet/sends/\(Self.key(number))", token: payer)
            #expect(kept.status == 200, "payment \(number), seed \(generator.seed)")
        }
        #expect(try Audit.of(path: third.path).isClean)
    }

    @Test("A server that cannot sync its database's log at startup exits with code 74")
    func start() async throws {
        let folder = try TemporaryFolder()
        let cut = try await PowerCut(in: folder, watching: "\(folder.path)/books.db")
        let first = try await ServerProcess(folder: folder, environment: cut.environment)
        _ = try await first.wire.login("payee")
        first.program.signal(SIGKILL)
        try await first.program.exitCode()
        try cut.failSyncs(true)
        let second = try Program(
            "gotchu-server",
            ["--dev", "--listen", "127.0.0.1:0", "--database", "sqlite:\(first.path)"],
            environment: cut.environment
        )
        #expect(try await second.exitCode() == 74)
        #expect(second.text.contains("The disk does not take the log"), "\(second.text)")
        #expect(!second.text.contains("listening"))
    }

    private static func key(_ number: Int) -> String { "0123456789abcdef-\(number)" }
}
