import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import Funding

/// The operator's actions on held withdrawals, and the searches before money is sent that may have
/// been sent already.
@Suite("Withdrawals that may have been paid")
struct HeldTests {
    private static let reused = Observation.refused(
        ProviderRefusal(.keyReused, code: "idempotency_error", message: "")
    )

    private var rig = FundingBooks()
    private let payee: UserID
    private let id: RecordID

    init() throws {
        payee = try rig.user("payee", cents: 5_000)
        try rig.onboard(payee)
        id = try rig.withdraw(1_000, by: payee).outcome.get()
    }

    private func transfer(_ reversal: String? = nil) -> Observation {
        .transfer(
            SeenTransfer(
                id: "tr_1",
                amount: 1_000,
                currency: "usd",
                destination: "acct_\(payee)",
                reversal: reversal
            )
        )
    }

    private func payout(_ payout: String, _ status: SeenPayout.Status) -> Observation {
        .payout(SeenPayout(id: payout, status: status, amount: 1_000, currency: "usd"))
    }

    private var state: WithdrawalBody.State {
        get throws { try rig.withdrawal(id).state }
    }

    /// Wakes the withdrawal, checks that its call is of the expected kind, and answers the call.
    @discardableResult
    private mutating func answer(
        _ observation: Observation,
        if isExpected: (Call) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Call? {
        let call = try rig.submit(Wake(id)).get()
        let isRight = call.map(isExpected) == true
        #expect(isRight, "\(String(describing: call))", sourceLocation: sourceLocation)
        return try rig.submit(Observe(id, observation, of: call)).get()
    }

    private static func isPayoutSearch(_ call: Call) -> Bool {
        if case .findPayout = call { true } else { false }
    }

    private static func isTransferSearch(_ call: Call) -> Bool {
        if case .findTransfer = call { true } else { false }
    }

    private static func isReversal(_ call: Call) -> Bool {
        if case .reverseTransfer = call { true } else { false }
    }

    @Test(
        "A failed payout whose transfer cannot be reversed is repeated if no other payout is found"
    )
    mutating func paidAgain() throws {
        _ = try rig.submit(Observe(id, transfer())).get()
        _ = try rig.submit(Observe(id, payout("po_1", .failed))).get()
        try answer(
            .refused(ProviderRefusal(.insufficientFunds, code: "insufficient", message: "")),
            if: Self.isReversal
        )
        #expect(try state == .held)
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: false)).get()
        try answer(.absent, if: Self.isPayoutSearch)
        // A late notification reports the failed payout as pending.
        _ = try rig.submit(Observe(id, payout("po_1", .pending))).get()
        #expect(try state == .sent)
        // A search right after the notification proves nothing, because lists lag.
        try answer(.absent, if: Self.isPayoutSearch)
        rig.pass(Pace.listing)
        try answer(.absent, if: Self.isPayoutSearch)
        try answer(payout("po_2", .paid)) { if case .sendPayout = $0 { true } else { false } }
        #expect(try state == .paid)
        #expect(rig.balance(.user(payee)) == 4_000 && rig.balance(.house(.withdrawals)) == 0)
        #expect(rig.complaint == nil)
    }

    @Test("A withdrawal to be returned is reversed after two searches have found no payout")
    mutating func returned() throws {
        _ = try rig.submit(Observe(id, transfer())).get()
        _ = try rig.submit(Observe(id, Self.reused)).get()
        #expect(try state == .held)
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
        try answer(.absent, if: Self.isPayoutSearch)
        rig.pass(Pace.listing)
        let call = try answer(.absent, if: Self.isPayoutSearch)
        #expect(call.map(Self.isReversal) == true)
        _ = try rig.submit(Observe(id, transfer("trr_1"), of: call)).get()
        #expect(try state == .failed)
        #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
    }

    @Test("A withdrawal to be returned ends as paid if a search finds its payout")
    mutating func found() throws {
        _ = try rig.submit(Observe(id, transfer())).get()
        _ = try rig.submit(Observe(id, Self.reused)).get()
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
        try answer(payout("po_1", .paid), if: Self.isPayoutSearch)
        #expect(try state == .paid)
        #expect(rig.balance(.user(payee)) == 4_000 && rig.complaint == nil)
    }

    @Test(
        "A withdrawal held before its transfer is returned after two searches found no transfer"
    )
    mutating func neverSent() throws {
        _ = try rig.submit(Wake(id)).get()
        _ = try rig.submit(Observe(id, Self.reused)).get()
        #expect(try state == .held)
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
        try answer(.absent, if: Self.isTransferSearch)
        #expect(try state == .pending)
        rig.pass(Pace.listing)
        try answer(.absent, if: Self.isTransferSearch)
        #expect(try state == .failed)
        #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
    }

    @Test("A transfer found after a cancellation is held, and reversed on the operator's order")
    mutating func unexpected() throws {
        _ = try rig.submit(CancelWithdrawal(id, user: payee)).get()
        try answer(transfer(), if: Self.isTransferSearch)
        #expect(try state == .held)
        #expect(rig.complaint == nil)
        #expect(throws: Refusal(.withdrawalTooLate)) {
            try rig.submit(ResumeWithdrawal(id, isReturned: false)).get()
        }
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
        try answer(transfer("trr_1"), if: Self.isReversal)
        #expect(try state == .cancelled)
        #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
    }

    @Test("A withdrawal that waited until its key expired is searched for before money is sent")
    mutating func old() throws {
        let late = try rig.withdraw(500, by: payee, needsRelease: true).outcome.get()
        rig.pass(Pace.keyLife)
        _ = try rig.submit(ReleasePayee(payee, withdrawals: [late])).get()
        let call = try rig.submit(Wake(late)).get()
        #expect(call.map(Self.isTransferSearch) == true)
        // The payout may exist too, if the ledger was restored from a backup.
        let seen = SeenTransfer(
            id: "tr_2",
            amount: 500,
            currency: "usd",
            destination: "acct_\(payee)"
        )
        let next = try rig.submit(Observe(late, .transfer(seen), of: call)).get()
        #expect(next.map(Self.isPayoutSearch) == true)
    }

    @Test("A transfer with an unknown outcome is sent again only after two searches without a find")
    mutating func unresolved() throws {
        func isCall(_ call: Call) -> Bool { if case .sendTransfer = call { true } else { false } }
        // The call's outcome is unknown, and the list does not contain its transfer.
        try answer(.absent, if: isCall)
        try answer(.absent, if: Self.isTransferSearch)
        rig.pass(Pace.listing)
        try answer(.absent, if: Self.isTransferSearch)
        try answer(transfer(), if: isCall)
        #expect(try state == .sent)
    }

    @Test("A new payee's withdrawal with an existing transfer can no longer be cancelled")
    mutating func released() throws {
        let id = try rig.withdraw(1_000, by: payee, needsRelease: true).outcome.get()
        let search = try rig.submit(Wake(id)).get()
        #expect(search.map(Self.isTransferSearch) == true)
        let next = try rig.submit(Observe(id, transfer(), of: search)).get()
        #expect(next.map(Self.isPayoutSearch) == true)
        #expect(throws: Refusal(.withdrawalTooLate)) {
            try rig.submit(CancelWithdrawal(id, user: payee)).get()
        }
        _ = try rig.submit(Observe(id, payout("po_1", .paid), of: next)).get()
        #expect(try rig.withdrawal(id).state == .paid)
        #expect(rig.balance(.user(payee)) == 3_000 && rig.complaint == nil)
    }

    @Test("The transfer and the payout of an adopted withdrawal are searched for, with its time")
    mutating func adopted() throws {
        let second = try rig.user("second", cents: 5_000)
        let lost = RecordID(trusted: "w-lost")
        let sentAt = rig.time
        rig.pass(.seconds(2 * 24 * 3_600))
        let adoption = AdoptWithdrawal(
            lost,
            user: second,
            amount: Money(minorUnits: 1_000),
            account: "acct_\(payee)",
            sentAt: sentAt
        )
        #expect(try rig.submit(adoption).get())
        #expect(throws: Refusal(.withdrawalTooLate)) {
            try rig.submit(CancelWithdrawal(lost, user: second)).get()
        }
        let search = try rig.submit(Wake(lost)).get()
        #expect(search.map(Self.isTransferSearch) == true)
        let next = try rig.submit(Observe(lost, transfer(), of: search)).get()
        guard case .findPayout(let order) = next else {
            throw NeverHappened(description: "the payout is searched for")
        }
        #expect(order.createdAt == sentAt)
        #expect(rig.balance(.user(second)) == 4_000 && rig.balance(.user(payee)) == 4_000)
        #expect(try !rig.submit(adoption).get())
        #expect(rig.complaint == nil)
    }

    @Test("A cancelled withdrawal that is adopted is held when its transfer is found")
    mutating func adoptedAnew() throws {
        _ = try rig.submit(CancelWithdrawal(id, user: payee)).get()
        let adoption = AdoptWithdrawal(
            id,
            user: payee,
            amount: Money(minorUnits: 1_000),
            account: "acct_\(payee)",
            sentAt: rig.time
        )
        #expect(try rig.submit(adoption).get())
        #expect(try rig.withdrawal(id).refreshAt == rig.time)
        try answer(transfer(), if: Self.isTransferSearch)
        #expect(try state == .held)
        #expect(rig.complaint == nil)
    }

    @Test("A refusal of another server's earlier call does not apply to the present call")
    mutating func stale() throws {
        let poor = Observation.refused(
            ProviderRefusal(.insufficientFunds, code: "balance_insufficient", message: "")
        )
        let call = try rig.submit(Wake(id)).get()
        _ = try rig.submit(Observe(id, poor, of: call)).get()
        rig.pass(Pace.slow)
        _ = try rig.submit(Wake(id)).get()
        let before = try rig.withdrawal(id)
        _ = try rig.submit(Observe(id, poor, of: call)).get()
        #expect(try rig.withdrawal(id) == before)
        // The call under way may move money, so the withdrawal cannot be cancelled.
        #expect(throws: Refusal(.withdrawalTooLate)) {
            try rig.submit(CancelWithdrawal(id, user: payee)).get()
        }
    }

    @Test("A withdrawal whose payout cannot be read for 30 days is held for the operator")
    mutating func silent() throws {
        let silence = Observation.unknown(after: .seconds(900))
        // The time before the payout does not count.
        _ = try rig.submit(Observe(id, silence)).get()
        rig.pass(WithdrawalBody.unansweredLimit)
        _ = try rig.submit(Observe(id, transfer())).get()
        _ = try rig.submit(Observe(id, payout("po_1", .pending))).get()
        _ = try rig.submit(Observe(id, silence)).get()
        #expect(try state == .inTransit)
        rig.pass(WithdrawalBody.unansweredLimit)
        _ = try rig.submit(Observe(id, payout("po_1", .pending))).get()
        _ = try rig.submit(Observe(id, silence)).get()
        #expect(try state == .inTransit)
        rig.pass(WithdrawalBody.unansweredLimit)
        _ = try rig.submit(Observe(id, silence)).get()
        #expect(try state == .held)
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: false)).get()
        _ = try rig.submit(Observe(id, silence)).get()
        #expect(try state == .inTransit)
        _ = try rig.submit(Observe(id, payout("po_1", .paid))).get()
        _ = try rig.submit(Observe(id, silence)).get()
        #expect(try state == .paid && rig.withdrawal(id).refreshAt != nil)
        rig.pass(WithdrawalBody.returnWindow)
        _ = try rig.submit(Observe(id, silence)).get()
        #expect(try rig.withdrawal(id).refreshAt == nil)
    }

    @Test("A withdrawal whose payout cannot be read is returned on the operator's order")
    mutating func unreadable() throws {
        _ = try rig.submit(Observe(id, transfer())).get()
        _ = try rig.submit(Observe(id, payout("po_1", .pending))).get()
        // The server was down and made no calls, so its first unanswered call changes nothing.
        rig.pass(WithdrawalBody.unansweredLimit)
        _ = try rig.submit(Observe(id, .unknown(after: nil))).get()
        #expect(try state == .inTransit)
        rig.pass(WithdrawalBody.unansweredLimit)
        _ = try rig.submit(Observe(id, .unknown(after: nil))).get()
        #expect(try state == .held)
        _ = try rig.submit(ResumeWithdrawal(id, isReturned: true)).get()
        try answer(transfer("trr_1"), if: Self.isReversal)
        #expect(try state == .failed)
        #expect(rig.balance(.user(payee)) == 5_000 && rig.complaint == nil)
    }

    @Test("A transfer is searched for after a replayed refusal, but not after a first refusal")
    mutating func replayed() throws {
        for isReplay in [false, true] {
            let id = try rig.withdraw(100, by: payee).outcome.get()
            rig.pass(.seconds(2 * 3_600))
            let refusal = ProviderRefusal(
                .insufficientFunds,
                code: "balance_insufficient",
                message: "",
                isReplay: isReplay
            )
            let call = try rig.submit(Wake(id)).get()
            _ = try rig.submit(Observe(id, .refused(refusal), of: call)).get()
            #expect(try rig.withdrawal(id).body.isCalled == isReplay)
            rig.pass(Pace.keyLife - .seconds(3_600))
            let next = try rig.submit(Wake(id)).get()
            #expect(next.map(Self.isTransferSearch) == isReplay)
        }
    }

    @Test("If a transfer is first seen an hour after its order, its payout is searched for")
    mutating func late() throws {
        let call = try rig.submit(Wake(id)).get()
        rig.pass(WithdrawalBody.oldTransferAge)
        let next = try rig.submit(Observe(id, transfer(), of: call)).get()
        #expect(next.map(Self.isPayoutSearch) == true)
    }
}
