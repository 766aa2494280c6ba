import GotchuAPI
import LocalAPI
import TestSupport
import Testing

@testable import GotchuCore
@testable import GotchuDaemon

@Suite("Driving a payment")
struct PaymentDriveTests {
    typealias Reply = ScriptedServer.Reply

    @Test("A payment is journalled before its lock call, and again before its send call")
    func paid() async throws {
        let bench = try Bench()
        let end = try await bench.pay()
        #expect(end.state == .paid && end.newBalanceCents == 5000)
        #expect(bench.server.routes == [.resolve, .lock, .send])
        try expectJournalFirst(bench)
        #expect(bench.proximity.endedSessions.map(\.rawValue) == [ScriptedServer.sid])
        #expect(bench.journal.records.count == 4)
    }

    /// Checks that the journal had each step before its call, that all sends are equal, and that
    /// money moved at most once.
    private func expectJournalFirst(_ bench: Bench) throws {
        for call in bench.server.calls {
            guard case .payment(let record) = call.journalled else {
                #expect(call.route == .resolve, "A call without a record in the journal")
                continue
            }
            switch call.route {
            case .lock: #expect(record.stage == .open(.locking))
            case .send:
                #expect(record.stage == .open(.sending))
                #expect(call.key == record.key.rawValue && call.body == record.body)
            case .unlock: #expect(record.isOpen || record.refusal == .cancelled)
            case .resolve, .lookUp, .refund, .session, .refresh, .login, .wallet, .devLogin,
                .withdraw, .join:
                break
            }
        }
        #expect(Set(bench.server.calls(.send).map(\.key)).count <= 1)
        #expect(Set(bench.server.calls(.send).map(\.body)).count <= 1)
        #expect(bench.server.movements <= 1)
    }

    @Test(
        "The server's refusal of a lock ends a payment before its send call",
        arguments: [
            ([Reply.refused(409, "SESSION_BUSY")], "SESSION_BUSY", 0),
            ([.refused(401, "UNAUTHORIZED")], "UNAUTHORIZED", 0),
            (
                [
                    .lost, .page(404), .refused(429, "RATE_LIMITED"),
                    .refused(410, "SESSION_EXPIRED"),
                ],
                "SESSION_EXPIRED", 1
            ),
        ]
    )
    func lockRefused(replies: [Reply], code: String, unlocks: Int) async throws {
        let bench = try Bench()
        for reply in replies { bench.server.script(.lock, reply) }
        let end = try await bench.pay()
        #expect(end.state == .declined && end.code == code)
        #expect(bench.server.calls(.lock).count == replies.count)
        #expect(bench.server.calls(.send).isEmpty)
        #expect(bench.server.calls(.unlock).count == unlocks)
    }

    @Test(
        "A send is repeated with the same key until its outcome is certain",
        arguments: [
            ([Reply.declined(402, "INSUFFICIENT_WALLET_BALANCE")], PaymentView.State.declined),
            ([.refused(403, "FORBIDDEN")], .declined),
            ([.refused(401, "UNAUTHORIZED")], .declined),
            ([.lost, .done], .paid),
            ([.doneUnheard, .refused(401, "UNAUTHORIZED"), .done], .paid),
            ([.doneUnheard, .page(404), .page(403), .page(200), .page(502), .done], .paid),
            ([.doneUnheard, .refused(503, "TRY_AGAIN"), .refused(429, "RATE_LIMITED")], .paid),
            ([.doneUnheard, .refused(403, "FORBIDDEN")], .paid),
            ([.lost, .refused(404, "NOT_FOUND"), .lost, .done], .paid),
            (
                [.declinedUnheard(402, "INSUFFICIENT_WALLET_BALANCE"), .refused(403, "X")],
                .declined
            ),
            ([.lost, .refused(409, "SESSION_PAID")], .declined),
        ]
    )
    func sends(replies: [Reply], end state: PaymentView.State) async throws {
        let bench = try Bench()
        for reply in replies { bench.server.script(.send, reply) }
        let end = try await bench.pay()
        #expect(end.state == state)
        #expect(bench.server.movements == (state == .paid ? 1 : 0))
        #expect(bench.server.calls(.unlock).count == (state == .paid ? 0 : 1))
        try expectJournalFirst(bench)
    }

    @Test(
        "A declined payment keeps its code if its lock cannot be released",
        arguments: [Reply.lost, .doneUnheard, .refused(403, "FORBIDDEN"), .page(502)]
    )
    func unlockFails(reply: Reply) async throws {
        let bench = try Bench()
        bench.server.script(.send, .declined(402, "INSUFFICIENT_WALLET_BALANCE"))
        bench.server.script(.unlock, reply)
        let end = try await bench.pay()
        #expect(end.state == .declined && end.code == "INSUFFICIENT_WALLET_BALANCE")
        #expect(bench.server.calls(.unlock).count == 1 && bench.server.movements == 0)
    }

    @Test("A lock is released before the decline is published")
    func unlockFirst() async throws {
        let bench = try Bench()
        bench.server.script(.send, .declined(402, "INSUFFICIENT_WALLET_BALANCE"))
        let unlock = bench.server.stop(at: .unlock)
        let id = try await bench.agree()
        async let driven: Void = bench.payments.drive(id, isResumed: false)
        await unlock.reached()
        #expect(try await bench.payments.view(of: id).state == .sending)
        unlock.open()
        await driven
        #expect(try await bench.payments.view(of: id).state == .declined)
    }

    @Test("A payment that cannot be journalled is refused before its lock call")
    func startFails() async throws {
        let bench = try Bench()
        bench.journal.fail(1)
        await #expect { try await bench.agree() } throws: {
            ($0 as? Problem)?.errorCode == .journalUnwritable
        }
        #expect(bench.server.routes == [.resolve])
        #expect(await bench.payments.views().isEmpty)
        // A second agreement makes a new payment.
        #expect(try await bench.pay().state == .paid)
    }

    @Test(
        "A call waits until its step is journalled; a decline is journalled before it is published",
        arguments: [[2], [3], [4], [2, 3, 4], [2, 3, 4, 5, 6]],
        [true, false]
    )
    func journalFails(writes: [Int], isPaid: Bool) async throws {
        let bench = try Bench()
        for write in writes { bench.journal.fail(write) }
        if !isPaid { bench.server.script(.send, .declined(402, "INSUFFICIENT_WALLET_BALANCE")) }
        let end = try await bench.pay()
        #expect(end.state == (isPaid ? .paid : .declined))
        try expectJournalFirst(bench)
        guard case .payment(let last) = bench.journal.records.last else {
            Issue.record("The journal's last record is not a payment")
            return
        }
        // The state `paid` may be published before it is journalled, because the next start asks
        // the server again.
        #expect(isPaid || !last.isOpen)
        let next = try Bench(bench.journal.records, server: bench.server)
        await next.drive(isResumed: true)
        #expect(try await next.payments.view(of: end.id).state == end.state)
        #expect(bench.server.movements == (isPaid ? 1 : 0))
        #expect(Set(bench.server.calls(.send).map(\.key)).count == 1)
    }

    @Test(
        "A payment that a restart interrupts at its lock or send continues with one charge",
        arguments: [ScriptedServer.Route.lock, .send],
        [Reply.lost, .doneUnheard]
    )
    func crash(route: ScriptedServer.Route, reply: Reply) async throws {
        let bench = try Bench()
        bench.server.script(route, reply)
        let id = try await bench.agree()
        await bench.driveToWait(id)
        #expect(try await !bench.payments.view(of: id).state.isFinal)
        let next = try Bench(bench.journal.records, server: bench.server)
        await next.drive(isResumed: true)
        #expect(try await next.payments.view(of: id).state == .paid)
        #expect(bench.server.movements == 1)
        try expectJournalFirst(next)
    }

    @Test(
        "A payment that may be in the journal though its write failed is unknown, then never sent",
        arguments: [true, false]
    )
    func uncertainStart(isRestarted: Bool) async throws {
        let bench = try Bench()
        bench.journal.failUncertainly(1)
        await #expect { try await bench.agree() } throws: {
            ($0 as? Problem)?.errorCode == .outcomeUnknown
        }
        let open = try #require(await bench.payments.views().first)
        #expect(open.state == .unknown && open.detail.contains("Nothing was sent yet"))
        let next = isRestarted ? try Bench(bench.journal.records, server: bench.server) : bench
        await next.drive(isResumed: true)
        let end = try await next.payments.view(of: open.id)
        #expect(end.state == .declined && end.code == "PAYMENT_CANCELLED")
        #expect(bench.server.routes == [.resolve])
        guard case .payment(let last) = next.journal.records.last else {
            Issue.record("The journal's last record is not a payment")
            return
        }
        #expect(last.refusal == .notStarted)
        #expect(try await next.pay().state == .paid)
        #expect(bench.server.movements == 1)
    }

    @Test("A call that is repeated right after a restart does not join what the kill interrupted")
    func repeatedAtOnce() async throws {
        let (first, key) = (try Bench(), IdempotencyKey.random())
        first.journal.failUncertainly(1)
        _ = try? await first.payments.create(Bench.wish, key: key)
        let next = try Bench(first.journal.records, server: first.server)
        let again = try await next.payments.create(Bench.wish, key: key)
        #expect(!again.isReplay)
        await next.drive(isResumed: true)
        let views = await next.payments.views()
        #expect(views.map(\.state) == [.paid, .declined] && again.view.id == views[0].id)
        #expect(next.server.movements == 1)
    }

    @Test("A decision about another session does not decide a payment")
    func otherSession() async throws {
        let bench = try Bench()
        bench.server.script(.send, .doneUnheard, .refused(403, "FORBIDDEN"))
        bench.server.lookUps = [#"{"outcome":"declined","status":402,"sid":"s-2","code":"X"}"#]
        #expect(try await bench.pay().state == .paid)
        #expect(bench.server.lookUps.isEmpty && bench.server.movements == 1)
    }

    @Test("The same key starts a payment anew if its first call could not be recorded")
    func uncertainKey() async throws {
        let bench = try Bench()
        let key = IdempotencyKey.random()
        bench.journal.failUncertainly(1)
        _ = try? await bench.payments.create(Bench.wish, key: key)
        await bench.drive(isResumed: true)
        let again = try await bench.payments.create(Bench.wish, key: key)
        #expect(!again.isReplay)
        await bench.drive()
        #expect(try await bench.payments.view(of: again.view.id).state == .paid)
        #expect(bench.server.movements == 1)
    }

    @Test("The newest payments stay known by their keys, though older ones have a later time")
    func futureRecords() async throws {
        let (first, key) = (try Bench(), IdempotencyKey.random())
        _ = try await first.pay()
        guard case .payment(let ended) = first.journal.records.last else {
            Issue.record("The journal's last record is not a payment")
            return
        }
        let old = (0..<PaymentService.memoryLimit).map { number in
            let record = PaymentRecord(
                id: "old\(number)",
                key: .random(),
                sid: ended.sid,
                eid: nil,
                server: ended.server,
                user: ended.user,
                body: ended.body,
                amountCents: 500,
                currency: .usd,
                payee: "",
                createdAt: .now.advanced(by: .seconds(30 * 86_400)),
                updatedAt: .now,
                stage: ended.stage
            )
            return JournalRecord.payment(record)
        }
        let bench = try Bench(old)
        let made = try await bench.payments.create(Bench.wish, key: key)
        await bench.drive()
        _ = try await bench.pay()
        let again = try await bench.payments.create(Bench.wish, key: key)
        #expect(again.isReplay && again.view.id == made.view.id && again.view.state == .paid)
        #expect(await bench.payments.views().count == PaymentService.memoryLimit)
    }

    @Test("A restart after the first of the journal's records ends the payment without a call")
    func onlyBegun() async throws {
        let first = try Bench()
        let end = try await first.pay()
        let next = try Bench(Array(first.journal.records.prefix(1)))
        await next.drive(isResumed: true)
        #expect(try await next.payments.view(of: end.id).code == "PAYMENT_CANCELLED")
        #expect(next.server.calls.isEmpty)
    }

    @Test(
        "A restart after any later of the journal's records completes the payment with one charge"
    )
    func resume() async throws {
        let first = try Bench()
        let end = try await first.pay()
        for count in 2...first.journal.records.count {
            let records = Array(first.journal.records.prefix(count))
            let next = try Bench(records, server: first.server)
            await next.drive(isResumed: true)
            #expect(try await next.payments.view(of: end.id).state == .paid)
        }
        #expect(first.server.movements == 1)
        #expect(first.server.calls(.send).count == 3)
        #expect(Set(first.server.calls(.send).map(\.key)).count == 1)
    }

    @Test(
        "A payment waits while another user or nobody is logged in, and continues with its own user"
    )
    func otherLogin() async throws {
        let bench = try Bench()
        let id = try await bench.agree()
        for reply in [nil, "bob"] {
            try bench.core.tokens.store(reply.map(Bench.token))
            await bench.driveToWait(id)
            let view = try await bench.payments.view(of: id)
            #expect(view.state == .locking && view.detail.contains("another login"))
            #expect(view.nextStep == "gotchu-ctl login")
        }
        #expect(bench.server.routes == [.resolve])
        try bench.core.tokens.store(Bench.token(of: "ann"))
        await bench.drive()
        #expect(try await bench.payments.view(of: id).state == .paid)
        #expect(Set(bench.server.calls.map(\.token)) == [Bench.token(of: "ann")])
    }

    @Test("A lock is released only with the login of its payment's user", arguments: [true, false])
    func unlockLogin(isSame: Bool) async throws {
        let bench = try Bench()
        let lock = bench.server.stop(at: .lock)
        let id = try await bench.agree()
        async let driven: Void = bench.payments.drive(id, isResumed: false)
        await lock.reached()
        _ = try await bench.payments.cancel(id)
        if !isSame { try bench.core.tokens.store(Bench.token(of: "bob")) }
        lock.open()
        await driven
        #expect(
            bench.server.calls(.unlock).map(\.token) == (isSame ? [Bench.token(of: "ann")] : [])
        )
        #expect(bench.server.calls(.send).isEmpty)
    }

    @Test("A payment at another server makes no call and is reported as unresolved")
    func otherServer() async throws {
        let first = try Bench()
        first.server.script(.send, .lost)
        let id = try await first.agree()
        await first.driveToWait(id)
        let other = try Bench(first.journal.records, url: "http://127.0.0.1:2")
        await other.driveToWait(id, isResumed: true)
        let view = try await other.payments.view(of: id)
        #expect(view.state == .unknown && view.detail.contains(Bench.server))
        #expect(other.core.status.reply.health.contains { $0.code == "payment-unresolved" })
        #expect(other.server.calls.isEmpty)
    }

    @Test(
        "A lock call without an answer is repeated until the longest lifetime of a session is over"
    )
    func neverLocked() async throws {
        let bench = try Bench()
        for _ in 0..<50 { bench.server.script(.lock, .lost) }
        let end = try await bench.pay()
        #expect(end.state == .declined && end.code == "SESSION_EXPIRED")
        #expect(bench.clock.now.sinceStart >= PaymentFlow.maximumSessionLifetime)
        #expect(bench.server.calls(.send).isEmpty && bench.server.calls(.unlock).count == 1)
    }
}
