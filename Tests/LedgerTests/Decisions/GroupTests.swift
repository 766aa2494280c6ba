import GotchuCore
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import Payments

/// Requests with several payers: their shares, their payments and each possible end.
@Suite("Groups")
struct GroupTests {
    @Test("Three payers pay one bill, a share each, and the payee receives each share at once")
    func five() throws {
        var table = Table([400, 300, 300])
        for (payer, amount) in [(0, 400), (1, 300), (2, 300)] as [(Int, Int64)] {
            let locked = table.lock(payer, expecting: amount).session
            #expect(locked?.amount.minorUnits == amount && locked?.share?.group == table.group)
            #expect(try table.pay(payer, expecting: amount).payment != nil)
        }
        #expect(table.payee == 1_000 && table.spent == [400, 300, 300, 0])
        #expect(table.stored?.payeeSession.status == .paid)
        #expect(table.stored?.payeeSession.figures?.paidAmount == 1_000)
        #expect(
            table.events == ["paid", "paid", "paid"].map { "session.\($0) share" } + [
                "session.paid group"
            ]
        )
        #expect(table.lock(3).reason == .sessionPaid)
        #expect(table.complaint() == nil)
    }

    @Test("The shares of an all-or-nothing bill stay in the pot until the last share is paid")
    func pooled() throws {
        var table = Table([5, 5, 5], isAllOrNothing: true)
        for payer in 0..<2 {
            try table.settle(payer)
            #expect(table.payee == 0 && table.pot == Int64(payer + 1) * 5)
            #expect(table.complaint() == nil)
        }
        #expect(try table.refund(table.share(1)).reason == .notRefundable)
        try table.settle(2)
        #expect(table.payee == 15 && table.pot == 0)
        #expect(table.rig.books.rows.accounts[Cast.account(0)]?.earned == 15)
        #expect(try table.refund(table.share(1), cents: 2).refund?.amount == 2)
        #expect(try table.refund(table.share(1)).refund?.total == 5)
        #expect(try table.refund(table.share(1)).reason == .sessionRefunded)
        #expect(table.payee == 10 && table.spent == [0, 5, 5, 0])
        #expect(table.complaint() == nil)
    }

    @Test(
        "A pot is refunded in the commit that ends its group, for any number of paid shares",
        arguments: 0...2,
        [true, false]
    )
    func returned(paid: Int, isCancelled: Bool) throws {
        var table = Table([5, 6, 7], isAllOrNothing: true)
        for payer in 0..<paid { try table.settle(payer, place: Int64(payer + 1)) }
        if isCancelled {
            #expect(table.cancel().session?.status == .cancelled)
            #expect(table.cancel().session?.status == .cancelled)
        } else {
            table.rig.time += 300_000
            // No lock is accepted, although the expiry is not recorded yet.
            #expect(table.lock(3).reason == .sessionExpired)
            #expect(table.stored?.payeeSession.status == .advertising)
            #expect(table.rig.decide(SettleGroup(table.group)).session?.status == .expired)
            #expect(table.rig.decide(SettleGroup(table.group)).session?.status == .expired)
        }
        #expect(table.payee == 0 && table.pot == 0 && table.spent == [0, 0, 0, 0])
        #expect(table.stored?.payeeSession.figures?.paidAmount == 0)
        for number in 0..<paid {
            #expect(table.session(number + 1)?.refunded == Int64(5 + number))
            #expect(try table.refund(table.share(number + 1)).reason == .sessionRefunded)
        }
        #expect(table.events.filter { $0.hasPrefix("session.refunded") }.count == paid)
        #expect(table.complaint() == nil)
    }

    @Test("A plain split keeps its paid shares when it ends unpaid", arguments: [true, false])
    func partial(isCancelled: Bool) throws {
        var table = Table([5, 5])
        try table.settle(0)
        if isCancelled { table.cancel() } else { table.rig.time += 300_000 }
        table.rig.decide(SettleGroup(table.group))
        #expect(table.stored?.payeeSession.status == (isCancelled ? .cancelled : .expired))
        #expect(table.payee == 5 && table.spent == [5, 0, 0, 0])
        #expect(try table.refund(table.group).reason == .notRefundable)
        #expect(try table.refund(table.share(1)).refund?.amount == 5)
        #expect(table.payee == 0)
        #expect(table.complaint() == nil)
    }

    @Test("One of two payers gets the last place, and the other gets it once the lock expires")
    func lastPlace() throws {
        var table = Table([5, 5])
        try table.settle(0)
        #expect(table.lock(1).session != nil)
        #expect(table.lock(2).reason == .sessionBusy)
        #expect(table.cancel().reason == .sessionBusy)
        table.rig.time += 60_000
        #expect(try table.pay(1, table.share(2)).reason == .sessionExpired)
        #expect(table.lock(2).session?.id == table.share(3))
        #expect(try table.pay(1).reason == .sessionNotLocked)
        #expect(try table.pay(2).payment != nil)
        #expect(table.stored?.payeeSession.status == .paid && table.complaint() == nil)
    }

    @Test("A payer who locks again keeps the same share and its expiry")
    func again() throws {
        var table = Table([5, 5])
        let first = table.lock(0).session
        table.rig.time += 1_000
        #expect(table.lock(0).session == first)
        #expect(table.lock(0, table.share(1)).session == first)
        #expect(table.lock(1, table.share(1)).reason == .sessionBusy)
        #expect(table.lock(0, place: 2).reason == .shareTaken)
        #expect(table.lock(0, expecting: 6).reason == .amountChanged)
        #expect(
            table.rig.decide(UnlockSession(session: table.group, payer: table.payers[0])).session
                != nil
        )
        #expect(table.stored?.claims == [])
        #expect(try table.pay(0).reason == .sessionNotLocked)
        #expect(try table.pay(0, table.share(1)).reason == .sessionNotLocked)
        #expect(table.lock(0).session?.id == table.share(2))
        #expect(table.complaint() == nil)
    }

    @Test("A payer who releases too many locked shares can lock no more, and blocks nobody")
    func idleHolds() throws {
        var table = Table([300, 300])
        for number in 0..<Group.lapseLimit {
            try #require(table.lock(0).session?.share != nil, "\(number)")
            let unlock = UnlockSession(session: table.group, payer: table.payers[0])
            try #require(table.rig.decide(unlock).reason == nil, "\(number)")
        }
        #expect(table.lock(0).reason == .sessionBusy)
        #expect(table.stored?.lapses == [table.payers[0]: Group.lapseLimit])
        try table.settle(1)
        try table.settle(2)
        #expect(table.stored?.payeeSession.status == .paid)
        #expect(table.complaint() == nil)
    }

    @Test("A share is locked and charged only for the expected amount")
    func amounts() throws {
        var table = Table([7, 5, 5])
        // Without an expected amount, a lock is accepted only if all unpaid shares are equal.
        #expect(table.lock(0).reason == .sessionBusy)
        #expect(table.lock(0, expecting: 5).session?.share?.place == 2)
        #expect(table.lock(1, expecting: 6).reason == .amountChanged)
        #expect(table.lock(1, expecting: 5).session?.share?.place == 3)
        #expect(table.lock(2, expecting: 5).reason == .sessionBusy)
        #expect(table.lock(2, place: 1, expecting: 5).reason == .amountChanged)
        #expect(table.lock(2, place: 2).reason == .shareTaken)
        #expect(table.lock(2, place: 4).reason == .shareTaken)
        #expect(table.lock(2, place: 1).session?.amount.minorUnits == 7)
        #expect(try table.pay(2, expecting: 5).reason == .amountChanged)
        #expect(try table.pay(2, tip: 1).reason == .tipNotAllowed)
        #expect(try table.pay(2, expecting: 7).payment != nil)
        #expect(table.lock(3).reason == .sessionBusy)
        #expect(table.complaint() == nil)
    }

    @Test("A payer can pay a second share only if they name the share")
    func second() throws {
        var table = Table([5, 5])
        try table.settle(0)
        #expect(table.lock(0).reason == .sessionPaid)
        #expect(try table.pay(0).reason == .sessionPaid)
        try table.settle(0, place: 2)
        #expect(table.payee == 10 && table.spent == [10, 0, 0, 0])
        #expect(table.complaint() == nil)
    }

    @Test(
        "A payee cannot lock their own bill, and a payer with too little money cannot pay a share"
    )
    func refused() throws {
        var table = Table([1_001, 5])
        #expect(
            table.rig.decide(LockSession(session: table.group, payer: Cast.users[0])).reason
                == .ownSession
        )
        #expect(table.lock(0, place: 1).session != nil)
        let poor = try table.pay(0)
        #expect(poor.refusal == Refusal(.insufficientBalance, required: 1_001, available: 1_000))
        #expect(table.stored?.heldClaims.count == 1 && table.complaint() == nil)
        #expect(table.lock(1, SessionID.makeGroup()).reason == .unknownSession)
        #expect(try table.pay(1, SessionID.makeGroup()).reason == .unknownSession)
    }

    @Test("A batch with a whole bill has the same effects as its commands one by one")
    func batch() throws {
        var table = Table([5, 5], isAllOrNothing: true)
        var other = table
        let time = Timestamp(milliseconds: table.rig.time)
        func commands() throws -> [Submitted] {
            try (0..<2).flatMap { payer in
                [
                    Submitted(
                        LockSession(session: table.group, payer: table.payers[payer]),
                        at: time
                    ),
                    Submitted(
                        Pay(session: table.group, payer: table.payers[payer], expectedAmount: 5),
                        as: try .test(user: table.payers[payer], key: "key-0123456789-\(payer)"),
                        at: time
                    ),
                ]
            }
        }
        let together = try commands()
        table.rig.commit(together)
        let alone = try commands()
        for command in alone { other.rig.commit([command]) }
        #expect(together.map(\.answer) == alone.map(\.answer))
        #expect(table.rig.books.withoutSeals == other.rig.books.withoutSeals)
        #expect(table.payee == 10 && table.complaint() == nil)
    }

    @Test("A group's number of EID changes is limited by its lifetime")
    func rotation() throws {
        var table = Table([5, 5], seconds: 600)
        for number in 0..<49 {
            let rotate = RotateEID(
                session: table.group,
                payee: Cast.users[0],
                replaced: nil,
                eids: [.random()]
            )
            #expect(table.rig.decide(rotate).rotation != nil, "\(number)")
        }
        let last = RotateEID(session: table.group, payee: Cast.users[0], replaced: nil)
        #expect(table.rig.decide(last).reason == .tooManyRotations)
        try table.settle(0)
        #expect(table.complaint() == nil)
    }
}
