import GotchuCore
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import Payments

/// Requests with several payers: their shares, their payments and each possible end.
@Suite("Groups")
struct GroupTests {
    @Test("Three payers pay one bill, a share each, and the payee receives each share at once")
    func threePayers() throws {
        var bill = BillRig([400, 300, 300])
        for (payer, amount, total) in [(0, 400, 400), (1, 300, 700), (2, 300, 1_000)]
            as [(Int, Int64, Int64)]
        {
            let locked = bill.lock(payer, expecting: amount).session
            #expect(locked?.amount.minorUnits == amount && locked?.share?.group == bill.group)
            #expect(try bill.pay(payer, expecting: amount).payment != nil)
            #expect(bill.payeeGain == total)
        }
        #expect(bill.amountsSpent == [400, 300, 300, 0])
        #expect(bill.stored?.payeeSession.status == .paid)
        #expect(bill.stored?.payeeSession.figures?.paidAmount == 1_000)
        #expect(
            bill.events == ["paid", "paid", "paid"].map { "session.\($0) share" } + [
                "session.paid group"
            ]
        )
        #expect(bill.lock(3).reason == .sessionPaid)
        #expect(bill.complaint() == nil)
    }

    @Test("The shares of an all-or-nothing bill stay in the pot until the last share is paid")
    func pooled() throws {
        var bill = BillRig([5, 5, 5], isAllOrNothing: true)
        for payer in 0..<2 {
            try bill.lockAndPay(payer)
            #expect(bill.payeeGain == 0 && bill.pot == Int64(payer + 1) * 5)
            #expect(bill.complaint() == nil)
        }
        #expect(try bill.refund(bill.share(1)).reason == .notRefundable)
        try bill.lockAndPay(2)
        #expect(bill.payeeGain == 15 && bill.pot == 0)
        #expect(bill.rig.books.rows.accounts[Cast.account(0)]?.earned == 15)
        #expect(try bill.refund(bill.share(1), cents: 2).refund?.amount == 2)
        #expect(try bill.refund(bill.share(1)).refund?.total == 5)
        #expect(try bill.refund(bill.share(1)).reason == .sessionRefunded)
        #expect(bill.payeeGain == 10 && bill.amountsSpent == [0, 5, 5, 0])
        #expect(bill.complaint() == nil)
    }

    @Test(
        "A pot is refunded in the commit that ends its group, for any number of paid shares",
        arguments: 0...2,
        [true, false]
    )
    func returned(paid: Int, isCancelled: Bool) throws {
        var bill = BillRig([5, 6, 7], isAllOrNothing: true)
        for payer in 0..<paid { try bill.lockAndPay(payer, place: Int64(payer + 1)) }
        if isCancelled {
            #expect(bill.cancel().session?.status == .cancelled)
            #expect(bill.cancel().session?.status == .cancelled)
        } else {
            bill.rig.time += 300_000
            // No lock is accepted, although the expiry is not recorded yet.
            #expect(bill.lock(3).reason == .sessionExpired)
            #expect(bill.stored?.payeeSession.status == .advertising)
            #expect(bill.rig.decide(SettleGroup(bill.group)).session?.status == .expired)
            #expect(bill.rig.decide(SettleGroup(bill.group)).session?.status == .expired)
        }
        #expect(bill.payeeGain == 0 && bill.pot == 0 && bill.amountsSpent == [0, 0, 0, 0])
        #expect(bill.stored?.payeeSession.figures?.paidAmount == 0)
        for number in 0..<paid {
            #expect(bill.session(number + 1)?.refunded == Int64(5 + number))
            #expect(try bill.refund(bill.share(number + 1)).reason == .sessionRefunded)
        }
        #expect(bill.events.filter { $0.hasPrefix("session.refunded") }.count == paid)
        #expect(bill.complaint() == nil)
    }

    @Test("A plain split keeps its paid shares when it ends unpaid", arguments: [true, false])
    func partial(isCancelled: Bool) throws {
        var bill = BillRig([5, 5])
        try bill.lockAndPay(0)
        if isCancelled { bill.cancel() } else { bill.rig.time += 300_000 }
        bill.rig.decide(SettleGroup(bill.group))
        #expect(bill.stored?.payeeSession.status == (isCancelled ? .cancelled : .expired))
        #expect(bill.payeeGain == 5 && bill.amountsSpent == [5, 0, 0, 0])
        #expect(try bill.refund(bill.group).reason == .notRefundable)
        #expect(try bill.refund(bill.share(1)).refund?.amount == 5)
        #expect(bill.payeeGain == 0)
        #expect(bill.complaint() == nil)
    }

    @Test("One of two payers gets the last place, and the other gets it once the lock expires")
    func lastPlace() throws {
        var bill = BillRig([5, 5])
        try bill.lockAndPay(0)
        #expect(bill.lock(1).session != nil)
        #expect(bill.lock(2).reason == .sessionBusy)
        #expect(bill.cancel().reason == .sessionBusy)
        bill.rig.time += 60_000
        #expect(try bill.pay(1, bill.share(2)).reason == .sessionExpired)
        #expect(bill.lock(2).session?.id == bill.share(3))
        #expect(try bill.pay(1).reason == .sessionNotLocked)
        #expect(try bill.pay(2).payment != nil)
        #expect(bill.stored?.payeeSession.status == .paid && bill.complaint() == nil)
    }

    @Test("A payer who locks again keeps the same share and its expiry")
    func again() throws {
        var bill = BillRig([5, 5])
        let first = bill.lock(0).session
        bill.rig.time += 1_000
        #expect(bill.lock(0).session == first)
        #expect(bill.lock(0, bill.share(1)).session == first)
        #expect(bill.lock(1, bill.share(1)).reason == .sessionBusy)
        #expect(bill.lock(0, place: 2).reason == .shareTaken)
        #expect(bill.lock(0, expecting: 6).reason == .amountChanged)
        #expect(
            bill.rig.decide(UnlockSession(session: bill.group, payer: bill.payers[0])).session
                != nil
        )
        #expect(bill.stored?.claims == [])
        #expect(try bill.pay(0).reason == .sessionNotLocked)
        #expect(try bill.pay(0, bill.share(1)).reason == .sessionNotLocked)
        #expect(bill.lock(0).session?.id == bill.share(2))
        #expect(bill.complaint() == nil)
    }

    @Test("A payer who releases too many locked shares can lock no more, and blocks nobody")
    func idleHolds() throws {
        var bill = BillRig([300, 300])
        for number in 0..<Group.lapseLimit {
            try #require(bill.lock(0).session?.share != nil, "\(number)")
            let unlock = UnlockSession(session: bill.group, payer: bill.payers[0])
            try #require(bill.rig.decide(unlock).reason == nil, "\(number)")
        }
        #expect(bill.lock(0).reason == .sessionBusy)
        #expect(bill.stored?.lapses == [bill.payers[0]: Group.lapseLimit])
        try bill.lockAndPay(1)
        try bill.lockAndPay(2)
        #expect(bill.stored?.payeeSession.status == .paid)
        #expect(bill.complaint() == nil)
    }

    @Test("A share is locked and charged only for the expected amount")
    func amounts() throws {
        var bill = BillRig([7, 5, 5])
        // Without an expected amount, a lock is accepted only if all unpaid shares are equal.
        #expect(bill.lock(0).reason == .amountChanged)
        #expect(bill.lock(0, expecting: 5).session?.share?.place == 2)
        #expect(bill.lock(1, expecting: 6).reason == .amountChanged)
        #expect(bill.lock(1, expecting: 5).session?.share?.place == 3)
        #expect(bill.lock(2, expecting: 5).reason == .sessionBusy)
        #expect(bill.lock(2, place: 1, expecting: 5).reason == .amountChanged)
        #expect(bill.lock(2, place: 2).reason == .shareTaken)
        #expect(bill.lock(2, place: 4).reason == .shareTaken)
        #expect(bill.lock(2, place: 1).session?.amount.minorUnits == 7)
        #expect(try bill.pay(2, expecting: 5).reason == .amountChanged)
        #expect(try bill.pay(2, tip: 1).reason == .tipNotAllowed)
        #expect(try bill.pay(2, expecting: 7).payment != nil)
        #expect(bill.lock(3).reason == .sessionBusy)
        #expect(bill.complaint() == nil)
    }

    @Test("A payer can pay a second share only if they name the share")
    func second() throws {
        var bill = BillRig([5, 5])
        try bill.lockAndPay(0)
        #expect(bill.lock(0).reason == .sessionPaid)
        #expect(try bill.pay(0).reason == .sessionPaid)
        try bill.lockAndPay(0, place: 2)
        #expect(bill.payeeGain == 10 && bill.amountsSpent == [10, 0, 0, 0])
        #expect(bill.complaint() == nil)
    }

    @Test(
        "A payee cannot lock their own bill, and a payer with too little money cannot pay a share"
    )
    func refused() throws {
        var bill = BillRig([1_001, 5])
        #expect(
            bill.rig.decide(LockSession(session: bill.group, payer: Cast.users[0])).reason
                == .ownSession
        )
        #expect(bill.lock(0, place: 1).session != nil)
        let poor = try bill.pay(0)
        #expect(poor.refusal == Refusal(.insufficientBalance, required: 1_001, available: 1_000))
        #expect(bill.stored?.heldClaims.count == 1 && bill.complaint() == nil)
        #expect(bill.lock(1, SessionID.makeGroup()).reason == .unknownSession)
        #expect(try bill.pay(1, SessionID.makeGroup()).reason == .unknownSession)
    }

    @Test("A batch with a whole bill has the same effects as its commands one by one")
    func batch() throws {
        var bill = BillRig([5, 5], isAllOrNothing: true)
        var other = bill
        let time = Timestamp(milliseconds: bill.rig.time)
        func commands() throws -> [Submitted] {
            try (0..<2).flatMap { payer in
                [
                    Submitted(
                        LockSession(session: bill.group, payer: bill.payers[payer]),
                        at: time
                    ),
                    Submitted(
                        Pay(session: bill.group, payer: bill.payers[payer], expectedAmount: 5),
                        as: try .test(user: bill.payers[payer], key: "key-0123456789-\(payer)"),
                        at: time
                    ),
                ]
            }
        }
        let together = try commands()
        bill.rig.commit(together)
        let alone = try commands()
        for command in alone { other.rig.commit([command]) }
        #expect(together.map(\.answer) == alone.map(\.answer))
        #expect(bill.rig.books.withoutSeals == other.rig.books.withoutSeals)
        #expect(bill.payeeGain == 10 && bill.complaint() == nil)
    }

    @Test("A group's number of EID changes is limited by its lifetime")
    func rotation() throws {
        var bill = BillRig([5, 5], seconds: 600)
        for number in 0..<49 {
            let rotate = RotateEID(
                session: bill.group,
                payee: Cast.users[0],
                replaced: nil,
                eids: [.random()]
            )
            #expect(bill.rig.decide(rotate).rotation != nil, "\(number)")
        }
        let last = RotateEID(session: bill.group, payee: Cast.users[0], replaced: nil)
        #expect(bill.rig.decide(last).reason == .tooManyRotations)
        try bill.lockAndPay(0)
        #expect(bill.complaint() == nil)
    }
}
