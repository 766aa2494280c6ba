import Ledger
import LedgerTestSupport
import Testing

/// Tests that the checker accepts valid histories and finds contradictions.
@Suite("The checker of histories")
struct HistoryCheckTests {
    private static let start = ContinuousClock.now

    private static func deed(
        _ action: Step.Action,
        _ began: Int,
        _ ended: Int,
        _ reply: ReferenceModel.Reply?,
        available: Int64? = nil
    ) -> Deed {
        Deed(
            action: action,
            began: start + .seconds(began),
            ended: reply == nil ? nil : start + .seconds(ended),
            told: reply.map { Deed.Told(reply: $0, available: available, isRetry: false) }
        )
    }

    private static func create(_ session: Int, _ amount: Int64) -> Step.Action {
        .create(session: session, payee: 0, amount: amount, seconds: 300, proposesTaken: false)
    }

    /// User 1 pays 30 to user 0, gets a refund of 10, and then has too little money to pay 81. User
    /// 2 fails to lock the first session. The first balance of each user is 100.
    private static let deeds = [
        deed(create(0, 30), 0, 1, .session(status: .advertising, payer: nil)),
        deed(.lock(session: 0, user: 2), 2, 3, .refused(.sessionBusy)),
        deed(.lock(session: 0, user: 1), 2, 5, .session(status: .locked, payer: 1)),
        deed(pay, 6, 9, .paid(newBalance: 70, isReplay: false)),
        deed(back, 10, 11, .refunded(amount: 10, total: 10, newBalance: 120, isReplay: false)),
        deed(pay, 12, 13, .paid(newBalance: 70, isReplay: true)),
        deed(create(1, 81), 14, 15, .session(status: .advertising, payer: nil)),
        deed(.lock(session: 1, user: 1), 16, 17, .session(status: .locked, payer: 1)),
        deed(
            dear,
            18,
            19,
            .rememberedRefusal(.insufficientBalance, isReplay: false),
            available: 80
        ),
    ]
    private static let pay = Step.Action.send(session: 0, user: 1, key: 1, expected: nil)
    private static let back = Step.Action.refund(session: 0, user: 0, key: 2, amount: 10)
    private static let dear = Step.Action.send(session: 1, user: 1, key: 3, expected: nil)

    private static let booked: BookedHistory = {
        var booked = BookedHistory()
        booked.entries = [0: ["paid", "back"], 1: ["paid", "back"]]
        booked.transfers = [
            .init(user: 1, key: 1, isRefund: false): "paid",
            .init(user: 0, key: 2, isRefund: true): "back",
        ]
        booked.sessions = [
            "a": .init(status: "PAID", payer: 1, refunded: 10),
            "b": .init(status: "LOCKED", payer: 1, refunded: 0),
        ]
        booked.balances = [0: 120, 1: 80, 2: 100]
        return booked
    }()

    private func complaint(
        _ change: (inout [Deed], inout BookedHistory) -> Void = { _, _ in }
    ) -> String? {
        var (deeds, booked) = (Self.deeds, Self.booked)
        change(&deeds, &booked)
        return HistoryCheck.complaint(
            about: deeds,
            booked: booked,
            sids: ["a", "b"],
            users: 3,
            opening: 100
        )
    }

    @Test("The checker accepts a valid history, also with its calls in reverse order")
    func truth() {
        #expect(complaint() == nil)
        #expect(complaint { deeds, _ in deeds.reverse() } == nil)
    }

    @Test("A call without a reply can explain other calls' replies, but none before its start")
    func unknown() {
        // The reply to the lock is lost, but the replies to other calls show that it took effect.
        #expect(
            complaint { deeds, _ in deeds[2] = Self.deed(deeds[2].action, 2, 5, nil) } == nil
        )
        // A call cannot take effect before it began.
        let late = complaint { deeds, _ in deeds[2] = Self.deed(deeds[2].action, 4, 5, nil) }
        #expect(late?.hasPrefix("no order explains") == true)
    }

    /// User 1 has 100 and pays 30. Before the reply arrives, two other payments of user 1 are
    /// refused, and each refusal has a balance: 100 before the payment of 30, and 70 after it.
    @Test("The checker orders a payment by the balances in replies that arrive during the payment")
    func latePayment() {
        func complaint(available: Int64, second: Int64 = 100) -> String? {
            var booked = BookedHistory()
            booked.entries = [0: ["paid"], 1: ["paid"]]
            booked.transfers = [.init(user: 1, key: 1, isRefund: false): "paid"]
            booked.sessions = ["a", "b", "c"].reduce(into: [:]) {
                $0[$1] = .init(status: "LOCKED", payer: 1, refunded: 0)
            }
            booked.sessions["a"] = .init(status: "PAID", payer: 1, refunded: 0)
            booked.balances = [0: 130, 1: 70, 2: 100]
            let poor = ReferenceModel.Reply.rememberedRefusal(.insufficientBalance, isReplay: false)
            let again = Step.Action.send(session: 2, user: 1, key: 4, expected: nil)
            let deeds = [
                Self.deed(Self.create(0, 30), 0, 1, .session(status: .advertising, payer: nil)),
                Self.deed(.lock(session: 0, user: 1), 2, 3, .session(status: .locked, payer: 1)),
                Self.deed(Self.pay, 4, 13, .paid(newBalance: 70, isReplay: false)),
                Self.deed(Self.create(1, 181), 5, 6, .session(status: .advertising, payer: nil)),
                Self.deed(.lock(session: 1, user: 1), 7, 8, .session(status: .locked, payer: 1)),
                Self.deed(Self.dear, 9, 10, poor, available: available),
                Self.deed(Self.create(2, 190), 5, 6, .session(status: .advertising, payer: nil)),
                Self.deed(.lock(session: 2, user: 1), 7, 8, .session(status: .locked, payer: 1)),
                Self.deed(again, 11, 12, poor, available: second),
            ]
            return HistoryCheck.complaint(
                about: deeds,
                booked: booked,
                sids: ["a", "b", "c"],
                users: 3,
                opening: 100
            )
        }
        #expect(complaint(available: 100) == nil)
        #expect(complaint(available: 70, second: 70) == nil)
        #expect(complaint(available: 100, second: 70) == nil)
        #expect(complaint(available: 70, second: 100)?.hasPrefix("no order explains") == true)
        #expect(complaint(available: 99)?.hasPrefix("no order explains") == true)
    }

    @Test("The checker finds replies that contradict each other, the database or the times")
    func lies() {
        let changes: [(inout [Deed]) -> Void] = [
            { $0[3].told?.reply = .paid(newBalance: 71, isReplay: false) },
            { $0[5].told?.reply = .paid(newBalance: 70, isReplay: false) },
            { $0[5].told?.reply = .rememberedRefusal(.sessionPaid, isReplay: false) },
            { $0[1] = Self.deed($0[1].action, 6, 7, .session(status: .locked, payer: 2)) },
            { $0[2] = Self.deed($0[2].action, 4, 5, .session(status: .locked, payer: 1)) },
            {
                $0[4].told?.reply = .refunded(
                    amount: 10,
                    total: 20,
                    newBalance: 120,
                    isReplay: false
                )
            },
            { $0[8].told?.available = 79 },
            { $0[8].told?.reply = .rememberedRefusal(.sessionBusy, isReplay: false) },
            { $0.remove(at: 3) },
            { $0.remove(at: 4) },
        ]
        for (number, change) in changes.enumerated() {
            #expect(complaint { deeds, _ in change(&deeds) } != nil, "lie \(number)")
        }
    }

    /// Users 1 and 2 each pay half of user 0's all-or-nothing bill. User 1 gets the only place of a
    /// contest, user 2 is refused, and the contest is cancelled. The first balance of each is 100.
    private static let sharedDeeds: [Deed] = {
        func act(_ action: SharedAction, _ session: Int, _ user: Int) -> Step.Action {
            .shared(action, session: session, user: user)
        }
        let open = ReferenceModel.Reply.session(status: .advertising, payer: nil)
        return [
            deed(act(.bill(share: 30, places: 2, isPooled: true), 0, 0), 0, 1, open),
            deed(act(.claim, 0, 1), 2, 3, .session(status: .locked, payer: 1)),
            deed(act(.claim, 0, 2), 2, 3, .session(status: .locked, payer: 2)),
            deed(act(.pay(key: 1), 0, 1), 4, 7, .paid(newBalance: 70, isReplay: false)),
            deed(act(.pay(key: 2), 0, 2), 4, 7, .paid(newBalance: 70, isReplay: false)),
            deed(act(.contest(fee: 20, places: 1), 1, 0), 8, 9, open),
            deed(act(.join(key: 3), 1, 1), 10, 12, .session(status: .joined, payer: 1)),
            deed(
                act(.join(key: 4), 1, 2),
                11,
                13,
                .rememberedRefusal(.contestFull, isReplay: false)
            ),
            deed(act(.callOff(key: 5), 1, 0), 14, 15, .session(status: .cancelled, payer: nil)),
            deed(
                act(.leave(key: 6), 1, 1),
                16,
                17,
                .rememberedRefusal(.contestCancelled, isReplay: false)
            ),
        ]
    }()

    private func sharedComplaint(
        _ change: (inout [Deed], inout BookedHistory) -> Void = { _, _ in }
    ) -> String? {
        let ends = ["bill", "quiz"].map { BookedHistory.transfer($0, "end") }
        var (deeds, booked) = (Self.sharedDeeds, BookedHistory())
        booked.entries = [0: [ends[0]], 1: ["half", "fee", ends[1]], 2: ["rest"]]
        booked.transfers = [
            .init(user: 1, key: 1, isRefund: false): "half",
            .init(user: 2, key: 2, isRefund: false): "rest",
            .init(user: 1, key: 3, isRefund: false): "fee",
        ]
        booked.sessions = [
            "bill": .init(status: "PAID", payer: nil, refunded: 0),
            "quiz": .init(status: "cancelled", payer: nil, refunded: 0),
        ]
        booked.balances = [0: 160, 1: 70, 2: 70]
        change(&deeds, &booked)
        return HistoryCheck.complaint(
            about: deeds,
            booked: booked,
            sids: ["bill", "quiz"],
            users: 3,
            opening: 100
        )
    }

    @Test("The checker accepts valid calls on bills and contests, and finds contradictions in them")
    func shared() {
        #expect(sharedComplaint() == nil)
        // Both users pay at the same time, so either payment may be the last.
        #expect(sharedComplaint { deeds, _ in deeds.swapAt(3, 4) } == nil)
        let lies: [(inout [Deed], inout BookedHistory) -> Void] = [
            { deeds, _ in deeds[7].told?.reply = .session(status: .joined, payer: 2) },
            { deeds, _ in deeds[4].told?.reply = .paid(newBalance: 71, isReplay: false) },
            { deeds, _ in deeds[9].told?.reply = .session(status: .left, payer: 1) },
            { deeds, _ in deeds.remove(at: 8) }, { deeds, _ in deeds.remove(at: 4) },
            { _, booked in booked.balances[0] = 130 },
            { _, booked in booked.entries[0] = [] },
            { _, booked in booked.entries[1]?.removeLast() },
            { _, booked in booked.entries[1]?.append(BookedHistory.transfer("quiz", "end")) },
            { _, booked in booked.entries[2]?.append("again") },
            { _, booked in booked.sessions["bill"] = nil },
            { _, booked in
                booked.sessions["bill"] = .init(status: "CANCEL", payer: nil, refunded: 0)
            },
            { _, booked in
                booked.sessions["quiz"] = .init(status: "open", payer: nil, refunded: 0)
            },
        ]
        for (number, lie) in lies.enumerated() {
            #expect(sharedComplaint(lie) != nil, "lie \(number)")
        }
    }

    @Test("The checker finds missing, additional and wrong content in the database")
    func books() {
        let changes: [(inout BookedHistory) -> Void] = [
            { $0.entries[1] = ["paid"] },
            { $0.entries[0] = ["paid", "back", "double"] },
            { $0.entries[2] = ["double"] },
            { $0.entries = [0: ["back", "paid"], 1: ["back", "paid"]] },
            { $0.transfers = [:] },
            { $0.balances[2] = 99 },
            { $0.sessions["a"] = .init(status: "LOCKED", payer: 1, refunded: 10) },
            { $0.sessions["a"] = .init(status: "PAID", payer: 2, refunded: 10) },
            { $0.sessions["a"] = .init(status: "PAID", payer: 1, refunded: 0) },
            { $0.sessions["b"] = nil },
            { $0.sessions["b"] = .init(status: "PAID", payer: 1, refunded: 0) },
        ]
        for (number, change) in changes.enumerated() {
            #expect(complaint { _, booked in change(&booked) } != nil, "change \(number)")
        }
    }
}
