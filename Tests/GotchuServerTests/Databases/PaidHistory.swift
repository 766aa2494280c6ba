import Foundation
import Ledger
import TestSupport
import Testing

/// Load on several servers while faults happen, and the proof that no money was lost or made: every
/// unknown outcome is resolved in a last phase of reading, then each payer's history is replayed.
struct PaidHistory {
    private static let clients = 8
    private static let payees = 2
    static let opening: Int64 = 3_000

    /// - Parameters:
    ///   - faults: What happens meanwhile; the load ends with it.
    static func check(
        _ name: String,
        on fleet: Fleet,
        database url: String,
        faults: @Sendable (PayingClient.Tally, inout SeededGenerator) async throws -> Void
    ) async throws {
        var generator = SeededGenerator(name)
        let seed = generator.seed
        let tally = PayingClient.Tally()
        let payees = try await logins(Self.payees, "payee", on: fleet)
        let tokens = try await logins(Self.clients, "payer", on: fleet)
        let clients = tokens.enumerated().map { number, token in
            PayingClient(number: number, token: token, payees: payees, fleet: fleet, tally: tally)
        }
        let histories = try await withThrowingTaskGroup(
            of: (Int, [PayingClient.Payment]).self
        ) { group in
            for client in clients {
                group.addTask { (client.number, await client.run(seed: seed)) }
            }
            do {
                try await faults(tally, &generator)
                try await tally.waitForPayments(20)
            } catch {
                tally.finish()
                throw error
            }
            tally.finish()
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(tally.surprises.isEmpty, "seed \(seed): \(tally.surprises.prefix(5))")
        var received = [Int64](repeating: 0, count: payees.count)
        for client in clients {
            let history = try await client.resolve(histories[client.number] ?? [])
            let balance = try await balance(client.token, on: fleet)
            replay(history, endingWith: balance, seed: seed)
            for payment in history {
                if case .paid = payment.outcome { received[payment.payee] += payment.amount }
            }
        }
        for (payee, sum) in zip(payees, received) {
            #expect(try await balance(payee, on: fleet) == opening + sum, "seed \(seed)")
        }
        let audit = try Audit.run(url: url)
        #expect(audit.isClean, "seed \(seed): \(audit.findings)")
    }

    /// A payer who only pays has a balance that only falls: what he was told after each payment
    /// puts them in order, and leaves room for no other.
    private static func replay(
        _ history: [PayingClient.Payment],
        endingWith last: Int64,
        seed: UInt64
    ) {
        var balance = opening
        let paid = history.compactMap { payment -> (amount: Int64, after: Int64)? in
            if case .paid(let after) = payment.outcome { (payment.amount, after) } else { nil }
        }
        for payment in paid.sorted(by: { $0.after > $1.after }) {
            balance -= payment.amount
            #expect(balance == payment.after, "seed \(seed)")
        }
        #expect(balance == last, "seed \(seed)")
        #expect(balance >= 0)
    }

    private static func logins(
        _ count: Int,
        _ name: String,
        on fleet: Fleet
    ) async throws -> [String] {
        var tokens: [String] = []
        for number in 0..<count {
            tokens.append(
                try await eventually("\(name) \(number) logs in") {
                    let token = try? await fleet.wire(number).login("\(name)\(number)")
                    return token.flatMap { $0.isEmpty ? nil : $0 }
                }
            )
        }
        return tokens
    }

    private static func balance(_ token: String, on fleet: Fleet) async throws -> Int64 {
        try await eventually("a balance") { try? await fleet.wire(0).balance(token) }
    }
}
