import Foundation
import Ledger
import TestSupport
import Testing

/// Load on one or more servers during faults. Afterwards every unknown outcome is resolved, and the
/// whole history is checked: no money may be lost or created.
struct PaidHistory {
    private static let payees = (0..<3).map { "payee\($0)" }
    private static let payers = (0..<8).map { "payer\($0)" }
    private static let users = payees + payers
    static let opening: Int64 = 3_000

    /// - Parameters:
    ///   - faults: Causes the faults during the load. The load ends 20 payments after its return.
    static func check(
        _ name: String,
        on fleet: Fleet,
        _ database: CheckedDatabase,
        faults: @Sendable (PayingClient.Tally, inout SeededGenerator) async throws -> Void
    ) async throws {
        var generator = SeededGenerator(name)
        let seed = generator.seed
        let tally = PayingClient.Tally()
        let tokens = try await logins(on: fleet)
        let clients = payers.indices.map { index in
            PayingClient(
                number: payees.count + index,
                users: tokens,
                payees: payees.count,
                fleet: fleet,
                tally: tally
            )
        }
        var calls = try await withThrowingTaskGroup(of: [RecordedCall].self) { group in
            for client in clients { group.addTask { await client.run(seed: seed) } }
            do {
                try await faults(tally, &generator)
                try await tally.waitForPayments(20)
            } catch {
                tally.finish()
                throw error
            }
            tally.finish()
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(tally.surprises.isEmpty, "seed \(seed): \(tally.surprises.prefix(5))")
        let unknown = calls.filter { $0.reply == nil }
        calls.removeAll { $0.reply == nil }
        for call in unknown {
            if let resolved = try await clients[0].resolved(call) { calls.append(resolved) }
        }
        let booked = try BookedHistory(database, users: users.map { "\($0)@shop.example" })
        let complaint = HistoryCheck.complaint(
            about: calls,
            booked: booked,
            sids: tally.sids,
            users: users.count,
            opening: opening
        )
        #expect(complaint == nil, "seed \(seed), \(calls.count) calls")
        for (user, token) in tokens.enumerated() {
            #expect(try await balance(token, on: fleet) == booked.balances[user], "seed \(seed)")
        }
        let audit = try database.audit()
        #expect(audit.isClean, "seed \(seed): \(audit.findings)")
        print("\(name): \(calls.count) calls, \(unknown.count) unknown at first")
    }

    private static func logins(on fleet: Fleet) async throws -> [String] {
        var tokens: [String] = []
        for (number, name) in users.enumerated() {
            tokens.append(
                try await eventually("\(name) logs in") {
                    let token = try? await fleet.wire(number).login(name)
                    return token.flatMap { $0.isEmpty ? nil : $0 }
                }
            )
        }
        return tokens
    }

    private static func balance(_ token: String, on fleet: Fleet) async throws -> Int64 {
        try await eventually("the balance is read") {
            guard let reply = try? await fleet.wire(0).get("/wallet/me", token: token) else {
                return nil
            }
            return reply.integer("available_cents")
        }
    }
}
