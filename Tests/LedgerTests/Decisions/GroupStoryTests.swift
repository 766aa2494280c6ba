import GotchuCore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Ledger

/// Random histories of bills, compared with a simple model.
@Suite("Random bills")
struct GroupStoryTests {
    /// A simple model of a bill.
    private struct BillModel {
        enum Place: Equatable {
            case free
            case held(Int, until: Int64)
            case paid(Int)
        }
        var places: [Place]
        let isPooled: Bool
        var end: SessionStatus?
        var spent = [Int64](repeating: 0, count: 4)
        var payee: Int64 = 0

        mutating func expireHolds(at time: Int64) {
            for index in places.indices {
                if case .held(_, let until) = places[index], time >= until { places[index] = .free }
            }
        }

        mutating func finish(with status: SessionStatus, _ amount: Int64) {
            end = status
            guard isPooled else { return }
            for case .paid(let payer) in places { spent[payer] -= amount }
        }
    }

    @Test("Random histories conserve money and agree with a model", arguments: 0..<8)
    func random(shard: Int) throws {
        var generator = SeededGenerator("bills", seed: runSeed &+ UInt64(shard) &* 7_919)
        for _ in 0..<(15 * min(effort, 10)) {
            let isPooled = Bool.random(using: &generator)
            let count = Int.random(in: 2...4, using: &generator)
            var rig = Rig()
            let payers = (0..<4).map { UserID(trusted: "payer-\($0)") }
            for payer in payers {
                rig.decide(
                    OpenAccount(
                        login: payer.rawValue,
                        displayName: "p",
                        opening: Money(minorUnits: 100),
                        user: payer
                    )
                )
            }
            let group = SessionID.makeGroup()
            let end = rig.time + 150_000
            rig.decide(
                CreateGroup(
                    id: group,
                    purpose: Split.name,
                    payee: Cast.users[0],
                    currency: .usd,
                    shares: [Int64](repeating: 5, count: count),
                    isAllOrNothing: isPooled,
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(150)
                )
            )
            var model = BillModel(places: .init(repeating: .free, count: count), isPooled: isPooled)
            for step in 0..<30 {
                rig.time += Int64.random(in: 0...9_000, using: &generator)
                let payer = Int.random(in: 0..<4, using: &generator)
                try runStep(step, payer, payers[payer], group, end, &rig, &model, &generator)
                let balances = payers.map {
                    rig.books.rows.accounts[Account.Key(.user($0), .usd)]?.balance
                }
                #expect(balances == model.spent.map { 100 - $0 })
                #expect(rig.balance(of: 0) == 10 + model.payee)
                #expect(rig.books.complaint == nil)
                for record in rig.books.rows.records.values {
                    let rule = record.kind == Group.kind ? RecordRule.groups : .sessions
                    #expect(rule.violation(record, rig.books.recordRows(of: record.id)) == nil)
                }
            }
        }
    }

    private func runStep(
        _ step: Int,
        _ payer: Int,
        _ user: UserID,
        _ group: SessionID,
        _ end: Int64,
        _ rig: inout Rig,
        _ model: inout BillModel,
        _ generator: inout SeededGenerator
    ) throws {
        let time = rig.time
        let isOver = model.end != nil || time >= end
        model.expireHolds(at: time)
        let held = model.places.firstIndex {
            if case .held(payer, _) = $0 { true } else { false }
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4:
            let place = model.places.firstIndex(of: .free)
            let answer = rig.decide(
                LockSession(session: group, payer: user, place: place.map { Int64($0 + 1) })
            )
            let gets = !isOver && held == nil && place != nil
            // A payer who holds a place gets it again, unless the command names another place.
            let succeeds = gets || (!isOver && held != nil && place == nil)
            let version: Int64? = succeeds ? 1 : nil
            #expect(answer.session?.version == version)
            if gets, let place {
                model.places[place] = .held(payer, until: min(time + 60_000, end))
            }
        case 4..<7:
            let answer = rig.decide(
                Pay(session: group, payer: user, expectedAmount: 5),
                as: try .test(user: user, key: "key-0123456789-\(step)")
            )
            #expect((answer.payment != nil) == (held != nil && !isOver))
            guard let held, !isOver else { return }
            model.places[held] = .paid(payer)
            model.spent[payer] += 5
            if !model.isPooled { model.payee += 5 }
            let isFull = model.places.allSatisfy { if case .paid = $0 { true } else { false } }
            if isFull {
                model.end = .paid
                if model.isPooled { model.payee += Int64(model.places.count) * 5 }
            }
        case 7:
            let answer = rig.decide(UnlockSession(session: group, payer: user))
            #expect((answer.session != nil) == (held != nil && !isOver))
            if let held, !isOver { model.places[held] = .free }
        case 8 where Int.random(in: 0..<6, using: &generator) == 0:
            let isHeld = model.places.contains { if case .held = $0 { true } else { false } }
            let answer = rig.decide(CancelSession(session: group, payee: Cast.users[0]))
            let works = model.end == .cancelled || !isOver && !isHeld
            #expect((answer.session != nil) == works)
            if works, model.end == nil { model.finish(with: .cancelled, 5) }
        default:
            rig.decide(SettleGroup(group))
            if model.end == nil, time >= end { model.finish(with: .expired, 5) }
        }
    }
}
