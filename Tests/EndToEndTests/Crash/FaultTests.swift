import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("Faults of disks, clocks and servers")
struct FaultTests {
    private func openRequest(_ stage: CrashStage, _ cents: Int64) async throws -> RequestView {
        try await stage.call(
            stage.kiosk,
            "POST",
            "/v1/requests",
            NewRequest(amountCents: cents)
        )
    }

    private func pay(_ stage: CrashStage, _ request: RequestView) async throws -> PaymentView {
        let wish = NewPayment(sid: request.id, confirmAmountCents: request.amountCents)
        return try await stage.call(stage.payer, "POST", "/v1/payments", wish)
    }

    /// Waits until the daemon names a next step for the payment. The payment must stay open.
    private func expectUnknown(_ stage: CrashStage, of payment: PaymentView) async throws {
        try await eventually("the payment has a next step") {
            let path = "/v1/payments/\(payment.id)"
            let view: PaymentView = try await stage.call(stage.payer, "GET", path, nil as String?)
            #expect(!view.state.isFinal)
            return view.nextStep != nil ? true : nil
        }
    }

    private func state(
        _ stage: CrashStage,
        of payment: PaymentView,
        _ condition: (PaymentView.State) -> Bool
    ) async throws -> PaymentView {
        let path = "/v1/payments/\(payment.id)"
        return try await stage.until("the payment has the wanted state", stage.payer, path) {
            condition($0.state)
        }
    }

    @Test(
        "A kiosk that cannot write to its disk says so and refuses requests until the disk works",
        arguments: Faults.Disk.allCases
    )
    func kiosk(fault: Faults.Disk) async throws {
        let stage = try await CrashStage()
        try stage.kiosk.faults.disk(fault)
        await #expect {
            _ = try await openRequest(stage, 100)
        } throws: { ($0 as? Problem)?.errorCode == .journalUnwritable }
        let list: RequestsReply = try await stage.call(
            stage.kiosk,
            "GET",
            "/v1/requests",
            nil as String?
        )
        #expect(list.requests.isEmpty)
        let status: StatusReply = try await stage.until(
            "the status reports the journal",
            stage.kiosk,
            "/v1/status"
        ) { status in
            status.health.contains { $0.code == "journal-unwritable" }
        }
        #expect(!status.isReady && status.radio.advertising.isEmpty)
        try stage.kiosk.faults.disk(nil)
        let _: StatusReply = try await stage.until(
            "the kiosk is ready again",
            stage.kiosk,
            "/v1/status"
        ) { $0.isReady }
        try await CrashMatrixTests.expectOneCharge(stage, amount: 100)
    }

    @Test(
        "A payer that cannot write to its disk sends nothing; a payment already sent is paid once",
        arguments: Faults.Disk.allCases
    )
    func payer(fault: Faults.Disk) async throws {
        let stage = try await CrashStage()
        let payer = stage.payer
        let before = try await stage.balance(payer)
        let first = try await openRequest(stage, 100)
        try payer.faults.disk(fault)
        await #expect {
            _ = try await pay(stage, first)
        } throws: { ($0 as? Problem)?.errorCode == .journalUnwritable }
        try payer.faults.disk(nil)
        #expect(try await stage.balance(payer) == before)
        // The disk fails when the agreement is in the journal. The payer does not send the money
        // until the journal has recorded that too.
        try payer.faults.plan([
            "after\t\(JournalText.locking)\ttell\t\(payer.faults.diskFile)\t\(fault.rawValue)"
        ])
        let waiting = try await pay(stage, first)
        try await expectUnknown(stage, of: waiting)
        #expect(try await stage.balance(payer) == before)
        try payer.faults.disk(nil)
        #expect(try await state(stage, of: waiting, \.isFinal).state == .paid)
        // The disk fails when the journal has recorded the send. The payer pays once, even if it is
        // killed.
        let second = try await openRequest(stage, 200)
        try payer.faults.plan([
            "after\t\(JournalText.sending)\ttell\t\(payer.faults.diskFile)\t\(fault.rawValue)"
        ])
        let sent = try await pay(stage, second)
        #expect(try await state(stage, of: sent, \.isFinal).state == .paid)
        try await stage.kill(payer)
        try payer.faults.disk(nil)
        #expect(try await state(stage, of: sent, \.isFinal).state == .paid)
        #expect(try await stage.balance(payer) == before - 300)
        try await stage.expectBooksBalance()
    }

    /// Makes a call while the journal can be neither synced nor cut, and checks that its outcome is
    /// not known. Then the program is killed, or not, and the disk works again.
    private func callOnBrokenDisk(
        _ stage: CrashStage,
        _ part: CrashStage.Part,
        isKilled: Bool,
        _ call: () async throws -> Void
    ) async throws {
        try part.faults.disk(isBroken: true, of: "/journal")
        await #expect {
            try await call()
        } throws: { ($0 as? Problem)?.errorCode == .outcomeUnknown }
        if isKilled { try await stage.kill(part) }
        try part.faults.disk(isBroken: false, of: "/journal")
    }

    @Test(
        "A payment or refund that was neither recorded nor undone is unknown, and then never made",
        arguments: [true, false]
    )
    func neitherRecordedNorUndone(isKilled: Bool) async throws {
        let stage = try await CrashStage()
        let (kiosk, payer) = (stage.kiosk, stage.payer)
        let before = try await stage.balance(payer)
        let request = try await openRequest(stage, 700)
        try await callOnBrokenDisk(stage, payer, isKilled: isKilled) {
            _ = try await pay(stage, request)
        }
        let payments: PaymentsReply = try await stage.until("it ends", payer, "/v1/payments") {
            $0.payments.first?.state.isFinal == true
        }
        #expect(payments.payments.map(\.state) == [.declined])
        #expect(payments.payments.first?.code == "PAYMENT_CANCELLED")
        let paid = try await pay(stage, request)
        #expect(try await state(stage, of: paid, \.isFinal).state == .paid)
        #expect(try await stage.balance(payer) == before - 700)

        let _: RequestView = try await stage.until(
            "the request is paid",
            kiosk,
            "/v1/requests/\(request.id)"
        ) { $0.state == .paid }
        // The journal has the paid request once it has the end of another request.
        let other = try await openRequest(stage, 1)
        let _: RequestView = try await stage.call(
            kiosk,
            "DELETE",
            "/v1/requests/\(other.id)",
            nil as String?
        )
        let wish = NewRefund(sid: request.id, amountCents: 500)
        try await callOnBrokenDisk(stage, kiosk, isKilled: isKilled) {
            _ = try await stage.call(kiosk, "POST", "/v1/refunds", wish) as PaymentView
        }
        let refunds: PaymentsReply = try await stage.until("it ends", kiosk, "/v1/payments") {
            $0.payments.first?.state.isFinal == true
        }
        #expect(refunds.payments.map(\.state) == [.declined])
        #expect(try await stage.balance(payer) == before - 700)
        let refund: PaymentView = try await stage.call(kiosk, "POST", "/v1/refunds", wish)
        let path = "/v1/payments/\(refund.id)"
        let end: PaymentView = try await stage.until("it ends", kiosk, path) { $0.state.isFinal }
        #expect(end.state == .paid)
        #expect(try await stage.balance(payer) == before - 200)
        try await stage.expectBooksBalance()
    }

    @Test(
        "A request that was neither recorded nor undone is not advertised, and is cancelled",
        arguments: [true, false]
    )
    func requestNeitherRecordedNorUndone(isKilled: Bool) async throws {
        let stage = try await CrashStage()
        try await callOnBrokenDisk(stage, stage.kiosk, isKilled: isKilled) {
            _ = try await openRequest(stage, 100)
        }
        let list: RequestsReply = try await stage.until("it ends", stage.kiosk, "/v1/requests") {
            $0.requests.first?.state.isFinal == true
        }
        #expect(list.requests.map(\.state) == [.cancelled])
        #expect(list.requests.allSatisfy { !$0.isOnAir })
        try await CrashMatrixTests.expectOneCharge(stage, amount: 100)
    }

    @Test("A server whose disk is full confirms nothing; a payment ends when it has space again")
    func server() async throws {
        let stage = try await CrashStage()
        let before = try await stage.balance(stage.payer)
        let request = try await openRequest(stage, 100)
        try stage.server.faults.disk(.full)
        let payment = try await pay(stage, request)
        try await expectUnknown(stage, of: payment)
        #expect(try await stage.balance(stage.payer) == before)
        try stage.server.faults.disk(nil)
        #expect(try await state(stage, of: payment, \.isFinal).state == .paid)
        #expect(try await stage.balance(stage.payer) == before - 100)
        try await stage.expectBooksBalance()
    }

    @Test(
        "A payment is charged once although the clocks of kiosk and payer jump during the payment",
        arguments: [7200, -7200]
    )
    func clocks(seconds: Int) async throws {
        let stage = try await CrashStage()
        try stage.payer.faults.plan([
            "after\t\(JournalText.locking)\ttell\t\(stage.payer.faults.clockFile)\t\(seconds)"
        ])
        try stage.kiosk.faults.plan([
            "after\t\"state\":\"advertising\"\ttell\t\(stage.kiosk.faults.clockFile)\t\(-seconds)"
        ])
        try await CrashMatrixTests.expectOneCharge(stage, amount: 100)
        // The two clocks are four hours apart now. The payer is killed during the next sale.
        try await CrashMatrixTests.expectOneCharge(stage, killing: [.lockRecorded], amount: 200)
        try await stage.expectBooksBalance()
    }

    @Test("After an hour without a server, a committed payment is paid and an unsent one declined")
    func hour() async throws {
        let stage = try await CrashStage()
        let before = (try await stage.balance(stage.kiosk), try await stage.balance(stage.payer))
        let (sent, unsent, unpaid) = (
            try await openRequest(stage, 100), try await openRequest(stage, 200),
            try await openRequest(stage, 400)
        )
        // The server is killed when it has committed the first payment, but has not answered.
        try stage.payer.faults.plan([
            "after\t\(JournalText.sending)\ttell\t\(stage.server.faults.plan)\tafter|-|kill"
        ])
        let committed = try await pay(stage, sent)
        try await eventually("the server is dead") {
            stage.isRunning(stage.server) ? nil : true
        }
        let late = try await pay(stage, unsent)
        for payment in [committed, late] {
            try await expectUnknown(stage, of: payment)
        }
        for part in [stage.server, stage.kiosk, stage.payer] {
            try part.faults.clock(offBy: 3600)
        }
        try await stage.revive()
        #expect(try await state(stage, of: committed, \.isFinal).state == .paid)
        let declined = try await state(stage, of: late, \.isFinal)
        #expect(declined.state == .declined && declined.code == "SESSION_EXPIRED")
        let ends: [(RequestView, RequestView.State)] = [
            (sent, .paid), (unsent, .expired), (unpaid, .expired),
        ]
        for (request, end) in ends {
            let path = "/v1/requests/\(request.id)"
            let view: RequestView = try await stage.until("the request ends", stage.kiosk, path) {
                $0.state.isFinal && !$0.isOnAir
            }
            #expect(view.state == end)
        }
        #expect(try await stage.balance(stage.kiosk) == before.0 + 100)
        #expect(try await stage.balance(stage.payer) == before.1 - 100)
        try await stage.expectBooksBalance()
    }
}
