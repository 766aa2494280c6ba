import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import Funding

/// Inconsistent deposits, withdrawals and payees that `verify` must find.
@Suite("The rules of deposits and withdrawals")
struct RuleTests {
    private var rig = FundingBooks()
    private let payer: UserID
    private let deposit: RecordID
    private let withdrawal: RecordID

    /// Creates a deposit with a fee and a refund, a withdrawal whose money is at the payee's
    /// connected account, and a transaction of the platform itself.
    init() throws {
        payer = try rig.user("payer", cents: 5_000)
        deposit = try rig.open(2_000, by: payer).outcome.get()
        func line(_ id: String, _ type: String, _ amount: Int64, fee: Int64) -> SeenTransaction {
            SeenTransaction(id: id, type: type, amount: amount, fee: fee, currency: "usd")
        }
        let refund = SeenReversal(
            id: "re_1",
            amount: 300,
            out: line("txn_2", "refund", -300, fee: 0)
        )
        let seen = SeenDeposit(
            intent: "pi_1",
            status: .succeeded,
            amount: 2_000,
            currency: "usd",
            isLive: false,
            deposit: deposit.rawValue,
            charge: SeenCharge(
                transaction: line("txn_1", "charge", 2_000, fee: 88),
                refunds: [refund]
            )
        )
        _ = try rig.submit(Observe(deposit, .deposit(seen))).get()
        try rig.onboard(payer)
        withdrawal = try rig.withdraw(1_000, by: payer).outcome.get()
        let transfer = SeenTransfer(
            id: "tr_1",
            amount: 1_000,
            currency: "usd",
            destination: "acct_\(payer)"
        )
        _ = try rig.submit(Observe(withdrawal, .transfer(transfer))).get()
        _ = try rig.submit(BindProvider(account: "acct_own", isLive: false)).get()
        _ = try rig.submit(BookTransaction(line("txn_9", "topup", 700, fee: 0))).get()
        #expect(rig.complaint == nil)
    }

    private mutating func change(
        _ id: RecordID,
        owner: UserID? = nil,
        state: String? = nil,
        _ body: (String) -> String = { $0 }
    ) throws {
        let record = try #require(rig.books.rows.records[id])
        rig.books.rows.records[id] = Record(
            id: record.id,
            kind: record.kind,
            owner: owner ?? record.owner,
            state: state ?? record.state,
            version: record.version,
            createdAt: record.createdAt,
            dueAt: record.dueAt,
            body: body(record.body)
        )
    }

    private mutating func forget(_ fact: String) {
        rig.books.rows.names[Posting.name(ofFact: fact)] = nil
    }

    private func expect(
        _ words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            rig.complaint?.contains(words) == true,
            "\(rig.complaint ?? "nothing is found")",
            sourceLocation: sourceLocation
        )
    }

    @Test("A refund whose amount in the deposit differs from its transfer is found")
    mutating func amount() throws {
        try change(deposit) { $0.replacing(#""re_1":300"#, with: #""re_1":200"#) }
        expect("re_1")
    }

    @Test("A deposit that is cancelled although its money moved is found")
    mutating func cancelled() throws {
        try change(deposit, state: "CANCELED") { body in
            body.replacing(/"creditedAt":"[^"]*",/, with: "")
                .replacing(/"booked":\{[^}]*\}/, with: #""booked":{}"#)
        }
        expect("belongs to no booking")
    }

    @Test("A deposit whose owner was changed is found")
    mutating func thief() throws {
        let thief = try rig.user("thief")
        try change(deposit, owner: thief)
        expect("that credits its user")
    }

    @Test("A withdrawal marked as paid while its money is at the payee's account is found")
    mutating func paid() throws {
        try change(withdrawal, state: "PAID") {
            $0.replacing("{\"account\"", with: #"{"paidAt":"2030-03-17T17:46:40.000Z","account""#)
        }
        #expect(rig.complaint != nil)
        let body = try rig.withdrawal(withdrawal)
        try change(withdrawal) { _ in body.record.body }
        expect("but its transfers change")
    }

    @Test("A withdrawal marked as failed although its money was sent is found")
    mutating func back() throws {
        try change(withdrawal, state: "FAILED")
        expect("but its transfers change")
    }

    @Test(
        "A booked fact without its unique name is found, because it could be booked again",
        arguments: ["pi_1", "txn_9"]
    )
    mutating func name(fact: String) throws {
        forget(fact)
        expect("the name fact:\(fact) is missing")
    }

    @Test("A payee whose owner was changed is found")
    mutating func payee() throws {
        let other = try rig.user("other")
        try change(Payee.id(of: payer), owner: other)
        expect("has an id that is not that of its user")
    }
}
