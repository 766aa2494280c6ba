import Ledger
import LedgerTestSupport
import Testing

/// Tests that the checker accepts valid histories and finds contradictions.
@Suite("The checker of histories")
struct HistoryCheckTests {
    private static let start = ContinuousClock.now

    private static func call(
        _ action: Step.Action,
        _ began: Int,
        _ ended: Int,
        _ reply: ReferenceModel.Reply?,
        available: Int64? = nil
    ) -> RecordedCall {
        RecordedCall(
            action: action,
            began: start + .seconds(began),
            ended: reply == nil ? nil : start + .seconds(ended),
            reply: reply.map { RecordedReply(content: $0, available: available, isRetry: false) }
        )
    }

    private static func create(_ session: Int, _ amount: Int64) -> Step.Action {
        .create(session: session, payee: 0, amount: amount, seconds: 300, proposesTaken: false)
    }

    /// User 1 pays 30 to user 0, gets a refund of 10, and then has too little money to pay 81. User
    /// 2 fails to lock the first session. The first balance of each user is 100.
    private static let calls = [
        call(create(0, 30), 0, 1, .session(status: .advertising, payer: nil)),
        call(.lock(session: 0, user: 2), 2, 3, .refused(.sessionBusy)),
        call(.lock(session: 0, user: 1), 2, 5, .session(status: .locked, payer: 1)),
        call(pay, 6, 9, .paid(newBalance: 70, isReplay: false)),
        call(back, 10, 11, .refunded(amount: 10, total: 10, newBalance: 120, isReplay: false)),
        call(pay, 12, 13, .paid(newBalance: 70, isReplay: true)),
        call(create(1, 81), 14, 15, .session(status: .advertising, payer: nil)),
        call(.lock(session: 1, user: 1), 16, 17, .session(status: .locked, payer: 1)),
        call(
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
        _ change: (inout [RecordedCall], inout BookedHistory) -> Void = { _, _ in }
    ) -> String? {
        var (calls, booked) = (Self.calls, Self.booked)
        change(&calls, &booked)
        return HistoryCheck.complaint(
            about: calls,
            booked: booked,
            sids: ["a", "b"],
            users: 3,
            opening: 100
        )
    }

    @Test("The checker accepts a valid history, also with its calls in reverse order")
    func truth() {
        #expect(complaint() == nil)
        #expect(complaint { calls, _ in calls.reverse() } == nil)
    }

    @Test("A call without a reply can explain other calls' replies, but none before its start")
    func unknown() {
        // The reply to the lock is lost, but the replies to other calls show that it took effect.
        #expect(
            complaint { calls, _ in calls[2] = Self.call(calls[2].action, 2, 5, nil) } == nil
        )
        // A call cannot take effect before it began.
        let late = complaint { calls, _ in calls[2] = Self.call(calls[2].action, 4, 5, nil) }
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
            let calls = [
                Self.call(Self.create(0, 30), 0, 1, .session(status: .advertising, payer: nil)),
                Self.call(.lock(session: 0, user: 1), 2, 3, .session(status: .locked, payer: 1)),
                Self.call(Self.pay, 4, 13, .paid(newBalance: 70, isReplay: false)),
                Self.call(Self.create(1, 181), 5, 6, .session(status: .advertising, payer: nil)),
                Self.call(.lock(session: 1, user: 1), 7, 8, .session(status: .locked, payer: 1)),
                Self.call(Self.dear, 9, 10, poor, available: available),
                Self.call(Self.create(2, 190), 5, 6, .session(status: .advertising, payer: nil)),
                Self.call(.lock(session: 2, user: 1), 7, 8, .session(status: .locked, payer: 1)),
                Self.call(again, 11, 12, poor, available: second),
            ]
            return HistoryCheck.complaint(
                about: calls,
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
    func discrepancies() {
        let changes: [(inout [RecordedCall]) -> Void] = [
            { $0[3].reply?.content = .paid(newBalance: 71, isReplay: false) },
            { $0[5].reply?.content = .paid(newBalance: 70, isReplay: false) },
            { $0[5].reply?.content = .rememberedRefusal(.sessionPaid, isReplay: false) },
            { $0[1] = Self.call($0[1].action, 6, 7, .session(status: .locked, payer: 2)) },
            { $0[2] = Self.call($0[2].action, 4, 5, .session(status: .locked, payer: 1)) },
            {
                $0[4].reply?.content = .refunded(
                    amount: 10,
                    total: 20,
                    newBalance: 120,
                    isReplay: false
                )
            },
            { $0[8].reply?.available = 79 },
            { $0[8].reply?.content = .rememberedRefusal(.sessionBusy, isReplay: false) },
            { $0.remove(at: 3) },
            { $0.remove(at: 4) },
        ]
        for (number, change) in changes.enumerated() {
            #expect(complaint { calls, _ in change(&calls) } != nil, "change \(number)")
        }
    }

    /// Users 1 and 2 each pay half of user 0's all-or-nothing bill. User 1 gets the only place of a
    /// contest, user 2 is refused, and the contest is cancelled. The first balance of each is 100.
    private static let sharedCalls: [RecordedCall] = {
        func act(_ action: SharedAction, _ session: Int, _ user: Int) -> Step.Action {
            .shared(action, session: session, user: user)
        }
        let open = ReferenceModel.Reply.session(status: .advertising, payer: nil)
        return [
            call(act(.bill(share: 30, places: 2, isPooled: true), 0, 0), 0, 1, open),
            call(act(.claim, 0, 1), 2, 3, .session(status: .locked, payer: 1)),
            call(act(.claim, 0, 2), 2, 3, .session(status: .locked, payer: 2)),
            call(act(.pay(key: 1), 0, 1), 4, 7, .paid(newBalance: 70, isReplay: false)),
            call(act(.pay(key: 2), 0, 2), 4, 7, .paid(newBalance: 70, isReplay: false)),
            call(act(.contest(fee: 20, places: 1), 1, 0), 8, 9, open),
            call(act(.join(key: 3), 1, 1), 10, 12, .session(status: .joined, payer: 1)),
            call(
                act(.join(key: 4), 1, 2),
                11,
                13,
                .rememberedRefusal(.contestFull, isReplay: false)
            ),
            call(act(.callOff(key: 5), 1, 0), 14, 15, .session(status: .cancelled, payer: nil)),
            call(
                act(.leave(key: 6), 1, 1),
                16,
                17,
                .rememberedRefusal(.contestCancelled, isReplay: false)
            ),
        ]
    }()

    private func sharedComplaint(
        _ change: (inout [RecordedCall], inout BookedHistory) -> Void = { _, _ in }
    ) -> String? {
        let ends = ["bill", "quiz"].map { BookedHistory.transfer($0, "end") }
        var (calls, booked) = (Self.sharedCalls, BookedHistory())
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
        change(&calls, &booked)
        return HistoryCheck.complaint(
            about: calls,
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
        #expect(sharedComplaint { calls, _ in calls.swapAt(3, 4) } == nil)
        let discrepancies: [(inout [RecordedCall], inout BookedHistory) -> Void] = [
            { calls, _ in calls[7].reply?.content = .session(status: .joined, payer: 2) },
            { calls, _ in calls[4].reply?.content = .paid(newBalance: 71, isReplay: false) },
            { calls, _ in calls[9].reply?.content = .session(status: .left, payer: 1) },
            { calls, _ in calls.remove(at: 8) }, { calls, _ in calls.remove(at: 4) },
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
        for (number, change) in discrepancies.enumerated() {
            #expect(sharedComplaint(change) != nil, "change \(number)")
        }
    }

    @Test("The checker finds missing, additional and wrong content in the database")
    func database() {
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
