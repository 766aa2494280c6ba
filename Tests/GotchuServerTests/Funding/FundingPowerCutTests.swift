import Foundation
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of deposits and withdrawals when the server's machine loses power.
@Suite("A power cut amid deposits and withdrawals")
struct FundingPowerCutTests {
    /// The tokens of the users, and the paths of the acknowledged deposits and withdrawals.
    private struct Acknowledged {
        let payer: String
        let payee: String
        var deposits: [String] = []
        var withdrawals: [String] = []
    }

    private static func story(_ rig: FundingRig) async throws -> Acknowledged {
        let wire = await rig.wire()
        var done = Acknowledged(
            payer: try await wire.login("payer"),
            payee: try await wire.login("payee")
        )
        _ = try await rig.onboard(done.payee)
        try await rig.standIn.order("fund", ["amount": .integer(50_000)])
        for number in 0..<4 {
            let made = try await rig.deposit(done.payer, cents: 1_000, key: "d\(number)")
            let path = "/api/payments/intents/" + made.string("payment_intent_id")
            try await rig.standIn.order("pay", ["name": .text(try await rig.stripeID(of: made))])
            try await rig.wait(done.payer, for: path, "status", toBe: "SUCCEEDED")
            done.deposits.append(path)
            done.withdrawals.append(
                try await rig.withdraw(done.payee, cents: 1_000, key: "w\(number)")
            )
        }
        return done
    }

    /// Replaces the database of a killed server with the database that the power cut leaves.
    private static func replace(
        _ path: String,
        _ cut: PowerCut,
        believing syncs: Int = .max,
        seed: UInt64
    ) throws {
        var generator = SeededGenerator("A power cut amid deposits", seed: seed)
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        _ = try cut.restore(as: path, believing: syncs, using: &generator)
    }

    @Test(
        "A power cut loses no acknowledged deposit or withdrawal, unless the disk ignores syncs",
        arguments: [false, true]
    )
    func powerCut(isLying: Bool) async throws {
        let seed = SeededGenerator("A power cut amid deposits").seed
        var cut: PowerCut?
        try await FundingRig.with(
            variables: { folder in
                let made = try await PowerCut(in: folder, watching: "\(folder.path)/books.db")
                cut = made
                return made.environment
            },
            { rig in
                let power = try #require(cut)
                let done = try await Self.story(rig)
                let path = try #require(rig.database.sqlitePath)
                // Counter-check: if the disk ignores the second half of the syncs, some deposits or
                // withdrawals are missing.
                let syncs = isLying ? try power.syncCount() / 2 : Int.max
                try await rig.kill {
                    try Self.replace(path, power, believing: syncs, seed: seed)
                }
                var missing = 0
                for path in done.deposits {
                    let reply = try await rig.wire().get(path, token: done.payer)
                    if reply.string("status") != "SUCCEEDED" { missing += 1 }
                }
                for path in done.withdrawals {
                    let reply = try await rig.wire().get(path, token: done.payee)
                    if reply.status != 200 { missing += 1 }
                }
                guard !isLying else {
                    #expect(missing > 0)
                    return
                }
                #expect(missing == 0, "seed \(seed)")
                try await rig.waitForPayouts(4)
                #expect(try await rig.count("transfers") == 4)
                #expect(try await rig.wire().balance(done.payer) == 14_000)
                #expect(try await rig.wire().balance(done.payee) == 6_000)
            }
        )
    }
}
