import Foundation
import Ledger
import TestSupport
import Testing

@Suite("Load")
struct LoadTests {
    @Test("Sixty-four payers pay one payee at once, and no cent is lost")
    func hotPayee() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let payee = try await wire.login("payee")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...64 {
                group.addTask {
                    let payer = try await wire.login("payer\(number)")
                    let sid = try await wire.lockedSession(payee, payer, cents: number)
                    let sent = try await wire.send(sid, by: payer, key: "0123456789abcdef")
                    #expect(sent.integer("new_balance_cents") == Int64(10_000 - number))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await wire.balance(payee) == 10_000 + 64 * 65 / 2)
        #expect(try Audit.of(path: server.path).isClean)
    }

    @Test("A payer with money for ten payments makes exactly ten of 64 simultaneous payments")
    func tenOfSixtyFour() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let sid = try await wire.lockedSession(payee, payer, cents: 1_000)
                    let key = "0123456789abcdef-\(number)"
                    return try await wire.send(sid, by: payer, key: key).status
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 10)
        #expect(statuses.count { $0 == 402 } == 54)
        #expect(try await wire.balance(payer) == 0)
        #expect(try Audit.of(path: server.path).isClean)
    }

    @Test("Exactly one of twenty payers who lock a session at once gets the lock")
    func lockRace() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let payee = try await wire.login("payee")
        let sid = try await wire.create(payee, cents: 5).string("sid")
        let codes = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let payer = try await wire.login("payer\(number)")
                    return try await wire.lock(sid, by: payer).code ?? "won"
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == "won" } == 1)
        #expect(codes.count { $0 == "SESSION_BUSY" } == 19)
    }

    @Test("A server killed under load keeps each acknowledged payment and repeats its reply")
    func kill() async throws {
        let server = try await ServerProcess(opening: 1_000_000)
        let wire = server.wire
        let payee = try await wire.login("payee")
        let acknowledged = try await withThrowingTaskGroup(of: [Payment].self) { group in
            for number in 0..<16 {
                group.addTask { await Self.payUntilDead(wire, payee, "payer\(number)") }
            }
            group.addTask {
                try await eventually("41 payments have been made") {
                    try await wire.balance(payee).flatMap { $0 > 1_000_040 ? true : nil }
                }
                server.program.signal(SIGKILL)
                return []
            }
            return try await group.reduce(into: [Payment]()) { $0 += $1 }
        }
        // At least 41 payments were made. Up to 16 of them, one per payer, may have no reply.
        #expect(acknowledged.count { $0.transfer != nil } >= 25)
        #expect(try await server.program.exitCode() == 128 + SIGKILL)

        let second = try await ServerProcess(folder: server.folder, opening: 1_000_000)
        for payment in acknowledged {
            let resent = try await second.wire.send(
                payment.sid,
                by: payment.payer,
                key: payment.key
            )
            guard let transfer = payment.transfer else { continue }
            #expect(resent.string("transfer_id") == transfer)
            #expect(resent.headers["idempotent-replayed"] == "true")
        }
        #expect(try Audit.of(path: server.path).isClean)
        #expect(try await second.stop() == 0)
        let verified = try await ServerProcess.run("verify", "--database", "sqlite:\(server.path)")
        #expect(verified.code == 0, "\(verified.text)")
    }

    private struct Payment: Sendable {
        let payer: String
        let sid: String
        let key: String
        /// The transfer's id in the reply; `nil` without a reply of status 200.
        var transfer: String?
    }

    /// Pays one cent at a time, up to 10,000 times, until the server does not answer.
    private static func payUntilDead(
        _ wire: Wire,
        _ payee: String,
        _ name: String
    ) async -> [Payment] {
        var payments: [Payment] = []
        guard let payer = try? await wire.login(name) else { return [] }
        for number in 0..<10_000 {
            guard let sid = try? await wire.lockedSession(payee, payer, cents: 1), !sid.isEmpty
            else { break }
            var payment = Payment(payer: payer, sid: sid, key: "0123456789abcdef-\(number)")
            let reply = try? await wire.send(sid, by: payer, key: payment.key)
            if let reply, reply.status == 200 { payment.transfer = reply.string("transfer_id") }
            payments.append(payment)
            if reply == nil { break }
        }
        return payments
    }
}
