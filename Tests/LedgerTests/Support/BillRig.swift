import GotchuCore
import LedgerTestSupport
import Payments
import Testing

@testable import Ledger

/// A bill of user 0, and four payers with ten dollars each.
struct BillRig {
    var rig = Rig()
    var number = 0
    let group = SessionID.makeGroup()
    let payers = (1...4).map { UserID(trusted: "payer-\($0)") }

    init(_ shares: [Int64], isAllOrNothing: Bool = false, seconds: Int = 300) {
        for payer in payers {
            rig.decide(
                OpenAccount(
                    login: payer.rawValue,
                    displayName: payer.rawValue,
                    opening: Money(minorUnits: 1_000),
                    user: payer
                )
            )
        }
        let created = rig.decide(
            CreateGroup(
                id: group,
                purpose: Split.name,
                payee: Cast.users[0],
                currency: .usd,
                shares: shares,
                isAllOrNothing: isAllOrNothing,
                memo: "dinner",
                reference: nil,
                lifetime: .seconds(seconds),
                eids: [Cast.eids[0]]
            )
        )
        #expect(created.session?.figures?.places == Int64(shares.count))
    }

    @discardableResult
    mutating func lock(
        _ payer: Int,
        place: Int64? = nil,
        expecting amount: Int64? = nil,
        _ sid: SessionID? = nil
    ) -> StepAnswer {
        rig.decide(
            LockSession(
                session: sid ?? group,
                payer: payers[payer],
                place: place,
                expectedAmount: amount
            )
        )
    }

    @discardableResult
    mutating func pay(
        _ payer: Int,
        expecting amount: Int64? = nil,
        tip: Int64 = 0,
        _ sid: SessionID? = nil
    ) throws -> StepAnswer {
        number += 1
        let pay = Pay(
            session: sid ?? group,
            payer: payers[payer],
            expectedAmount: amount,
            tip: tip
        )
        return rig.decide(pay, as: try .test(user: payers[payer], key: key))
    }

    private var key: String { "key-\(String(repeating: "0", count: 12))\(number)" }

    /// Locks a share and pays it.
    mutating func lockAndPay(_ payer: Int, place: Int64? = nil) throws {
        #expect(lock(payer, place: place).session != nil)
        #expect(try pay(payer).payment != nil)
    }

    mutating func refund(_ sid: SessionID, cents: Int64? = nil) throws -> StepAnswer {
        number += 1
        let refund = RefundPayment(session: sid, payee: Cast.users[0], amount: cents)
        return rig.decide(refund, as: try .test(user: Cast.users[0], key: key))
    }

    @discardableResult
    mutating func cancel() -> StepAnswer {
        rig.decide(CancelSession(session: group, payee: Cast.users[0]))
    }

    func share(_ number: Int) -> SessionID {
        SessionID(rawValue: "\(group)-\(number)") ?? group
    }

    var stored: Group? {
        rig.books.rows.records[RecordID(group)].flatMap { try? Group($0) }
    }

    func session(_ number: Int) -> Session? {
        rig.books.rows.records[RecordID(share(number))].flatMap { try? Session($0) }
    }

    func balance(_ owner: Account.Owner) -> Int64 {
        rig.books.rows.accounts[Account.Key(owner, .usd)]?.balance ?? 0
    }

    var payeeGain: Int64 { balance(.user(Cast.users[0])) - 10 }
    var pot: Int64 { balance(.pot(RecordID(group))) }
    var amountsSpent: [Int64] { payers.map { 1_000 - balance(.user($0)) } }

    /// The merchants' events: kind, group or share, and amount.
    var events: [String] {
        rig.books.events.map { event in
            let place = event.record.id == RecordID(group) ? "group" : "share"
            return "\(event.kind) \(place)" + (event.amount.map { " \($0)" } ?? "")
        }
    }

    /// Returns the first broken rule of the ledger; `nil` if there is none.
    func complaint() -> String? {
        if let complaint = rig.books.complaint { return complaint }
        for record in rig.books.rows.records.values {
            let rows = rig.books.recordRows(of: record.id)
            for rule in [RecordRule.sessions, .groups] where rule.kind == record.kind {
                if let broken = rule.violation(record, rows) { return broken }
            }
        }
        let rules = LedgerRules([.opening, .payment, .refund, .stake, .release, .returned])
        for transfer in rig.books.transfers.values {
            let broken = rules.violation(transfer, storedHash: transfer.hash)
            if let broken { return broken }
        }
        return nil
    }
}
