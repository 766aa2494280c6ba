import Foundation
import Ledger
import TestSupport
import Testing

@Suite("A power cut")
struct PowerCutTests {
    private struct Acknowledged: Sendable {
        let payer: String
        let key: String
        let transfer: String
    }

    @Test("A power cut that loses unsynced blocks at random loses no acknowledged payment")
    func powerCut() async throws {
        var generator = SeededGenerator("A power cut")
        let folder = try TemporaryFolder()
        let cut = try await PowerCut(in: folder, watching: "\(folder.path)/books.db")
        let server = try await ServerProcess(folder: folder, environment: cut.environment)
        let acknowledged = try await payments(at: server)
        server.program.signal(SIGKILL)
        try await server.program.exitCode()
        #expect(acknowledged.count >= 40)

        for _ in 0..<3 {
            let after = try TemporaryFolder()
            _ = try cut.restore(as: "\(after.path)/books.db", using: &generator)
            try keepSecret(of: folder, in: after)
            let missing = try await missing(acknowledged, after: after)
            #expect(missing == 0, "seed \(generator.seed)")
        }
        // Counter-check: if the disk ignores the second half of the syncs, payments are missing.
        let after = try TemporaryFolder()
        let half = try cut.syncCount() / 2
        let inDanger = try cut.restore(
            as: "\(after.path)/books.db",
            believing: half,
            using: &generator
        )
        #expect(inDanger > 0)
        try keepSecret(of: folder, in: after)
        #expect(try await missing(acknowledged, after: after) > 0)
    }

    /// Runs four clients that pay at the same time; returns the acknowledged payments.
    private func payments(at server: ServerProcess) async throws -> [Acknowledged] {
        let wire = server.wire
        let payee = try await wire.login("payee")
        return try await withThrowingTaskGroup(of: [Acknowledged].self) { group in
            for number in 0..<4 {
                group.addTask {
                    let payer = try await wire.login("payer\(number)")
                    var acknowledged: [Acknowledged] = []
                    for payment in 0..<12 {
                        let sid = try await wire.lockedSession(payee, payer, cents: 1)
                        let key = "0123456789abcdef-\(payment)"
                        let sent = try await wire.send(sid, by: payer, key: key)
                        let transfer = sent.string("transfer_id")
                        guard sent.status == 200 else { continue }
                        acknowledged.append(
                            Acknowledged(payer: payer, key: key, transfer: transfer)
                        )
                    }
                    return acknowledged
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func keepSecret(of folder: TemporaryFolder, in other: TemporaryFolder) throws {
        try FileManager.default.copyItem(
            atPath: "\(folder.path)/books.db.dev-secret",
            toPath: "\(other.path)/books.db.dev-secret"
        )
    }

    /// Starts a server on the restored files and audits its database. Returns the number of
    /// payments that the server does not know.
    private func missing(
        _ acknowledged: [Acknowledged],
        after folder: TemporaryFolder
    ) async throws -> Int {
        let server = try await ServerProcess(folder: folder)
        var missing = 0
        for payment in acknowledged {
            let reply = try await eventually("the outcome is read") {
                let path = "/wallet/sends/\(payment.key)"
                let reply = try await server.wire.get(path, token: payment.payer)
                return reply.status == 429 ? nil : reply
            }
            if reply.string("transfer_id") != payment.transfer { missing += 1 }
        }
        #expect(try Audit.of(path: server.path).isClean)
        return missing
    }
}
