import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Driving a refund")
struct RefundDriveTests {
    private let wish: NewRefund

    init() throws {
        wish = NewRefund(
            sid: try #require(SessionID(rawValue: ScriptedServer.sid)),
            amountCents: 500
        )
    }

    private func bench(
        _ records: [JournalRecord] = [],
        after server: ScriptedServer? = nil
    ) throws -> Bench {
        let bench = try Bench(records, server: server)
        bench.server.sessionStatus = "paid"
        return bench
    }

    private func refund(on bench: Bench) async throws -> PaymentView {
        let id = try await bench.payments.refund(wish, of: nil).view.id
        await bench.payments.drive(id, isResumed: false)
        return try await bench.payments.view(of: id)
    }

    @Test("A refund is journalled before its only call, and takes no lock")
    func made() async throws {
        let bench = try bench()
        let end = try await refund(on: bench)
        #expect(end.kind == .refund && end.state == .paid && end.wasMadeBefore == nil)
        #expect(bench.server.routes == [.session, .refund])
        guard case .refund(let record) = bench.server.calls[1].journalled else {
            Issue.record("The journal has no record of the refund before its call")
            return
        }
        #expect(record.isOpen && record.body == bench.server.calls[1].body)
        #expect(bench.journal.records.count == 3)
        // A second call for the same refund returns it without a call to the server.
        let again = try await bench.payments.refund(wish, of: nil)
        #expect(again.isReplay && again.view.id == end.id && again.view.wasMadeBefore == true)
        #expect(bench.server.calls.count == 2)
        #expect(await bench.payments.counts.refunds.done == 1)
    }

    @Test(
        "A refund is repeated with the same key until its outcome is certain",
        arguments: [
            (
                [ScriptedServer.Reply.declined(402, "INSUFFICIENT_WALLET_BALANCE")],
                PaymentView.State.declined
            ),
            ([.refused(403, "FORBIDDEN")], .declined),
            ([.refused(401, "UNAUTHORIZED")], .declined),
            (
                [.lost, .page(404), .refused(401, "UNAUTHORIZED"), .refused(403, "FORBIDDEN")],
                .paid
            ),
            ([.doneUnheard, .done], .paid),
            ([.lost, .refused(409, "SESSION_REFUNDED")], .declined),
        ]
    )
    func ends(replies: [ScriptedServer.Reply], state: PaymentView.State) async throws {
        let bench = try bench()
        for reply in replies { bench.server.script(.refund, reply) }
        let end = try await refund(on: bench)
        // Repeats by the daemon itself do not mark the refund as made before.
        #expect(end.state == state && end.wasMadeBefore == nil)
        #expect(bench.server.movements == (state == .paid ? 1 : 0))
        #expect(Set(bench.server.calls(.refund).map(\.key)).count == 1)
    }

    @Test("A new attempt after a decline uses the next key, which is journalled before its use")
    func nextKey() async throws {
        let bench = try bench()
        bench.server.script(.refund, .declined(402, "INSUFFICIENT_WALLET_BALANCE"))
        #expect(try await refund(on: bench).state == .declined)
        // The second call repeats the declined key. The next key is written to the journal, which
        // fails once. The third call uses the next key.
        bench.journal.fail(6)
        #expect(try await refund(on: bench).state == .paid)
        let calls = bench.server.calls(.refund)
        #expect(calls.count == 3 && calls[0].key == calls[1].key && calls[1].key != calls[2].key)
        guard case .refund(let record) = calls[2].journalled else {
            Issue.record("The journal has no record of the next key before its call")
            return
        }
        #expect(record.attempt == 1)
        #expect(bench.server.movements == 1)
    }

    @Test(
        "A refund that the server made before this device lost its state is marked as made before"
    )
    func madeBefore() async throws {
        let first = try bench()
        #expect(try await refund(on: first).state == .paid)
        let forgetful = try bench([], after: first.server)
        let end = try await refund(on: forgetful)
        #expect(end.state == .paid && end.wasMadeBefore == true)
        #expect(first.server.movements == 1)
    }

    @Test(
        "If one journal write fails, the refund still reaches its end, and is made at most once",
        arguments: 1...4
    )
    func journalFails(write: Int) async throws {
        for isPaid in [true, false] {
            let bench = try bench()
            bench.journal.fail(write)
            if !isPaid { bench.server.script(.refund, .declined(402, "REFUND_TOO_LARGE")) }
            if write == 1 {
                await #expect { try await bench.payments.refund(wish, of: nil) } throws: {
                    ($0 as? Problem)?.errorCode == .journalUnwritable
                }
                #expect(bench.server.calls(.refund).isEmpty)
            }
            let end = try await refund(on: bench)
            #expect(end.state == (isPaid ? .paid : .declined))
            let next = try self.bench(bench.journal.records, after: bench.server)
            await next.drive(isResumed: true)
            #expect(try await next.payments.view(of: end.id).state == end.state)
            #expect(bench.server.movements == (isPaid ? 1 : 0))
        }
    }

    @Test(
        "A refund that may be in the journal though its write failed is unknown, then never sent",
        arguments: [true, false]
    )
    func uncertainStart(isRestarted: Bool) async throws {
        let bench = try bench()
        bench.journal.failUncertainly(1)
        await #expect { try await bench.payments.refund(wish, of: nil) } throws: {
            ($0 as? Problem)?.errorCode == .outcomeUnknown
        }
        // Pressed again, it is the same refund.
        let open = try await bench.payments.refund(wish, of: nil)
        #expect(open.isReplay && open.view.state == .unknown)
        let next = isRestarted ? try self.bench(bench.journal.records, after: bench.server) : bench
        await next.drive(isResumed: true)
        let end = try await next.payments.view(of: open.view.id)
        #expect(end.state == .declined && end.code == "PAYMENT_CANCELLED")
        #expect(bench.server.calls(.refund).isEmpty)
        #expect(try await refund(on: next).state == .paid)
        #expect(bench.server.movements == 1)
    }

    @Test(
        "A refund continues with the same key after a restart, and is unresolved until its end"
    )
    func resume() async throws {
        let first = try bench()
        first.server.script(.refund, .doneUnheard)
        let id = try await first.payments.refund(wish, of: nil).view.id
        await first.driveToWait(id)
        #expect(try await first.payments.view(of: id).state == .unknown)
        await #expect { try await first.payments.cancel(id) } throws: {
            ($0 as? Problem)?.errorCode == .paymentInProgress
        }
        let next = try bench(first.journal.records, after: first.server)
        next.server.script(.refund, .refused(401, "UNAUTHORIZED"))
        await next.driveToWait(id, isResumed: true)
        #expect(next.core.status.reply.health.contains { $0.code == "payment-unresolved" })
        await next.drive(isResumed: true)
        let end = try await next.payments.view(of: id)
        #expect(end.state == .paid && end.wasMadeBefore == nil)
        #expect(!next.core.status.reply.health.contains { $0.code == "payment-unresolved" })
        #expect(Set(first.server.calls(.refund).map(\.key)).count == 1)
        #expect(first.server.movements == 1)
    }

    @Test(
        "No refund is started from a reply whose numbers are impossible or not of the request",
        arguments: [
            #""amount_cents":-5,"#, #""amount_cents":0,"#, #""amount_cents":100000001,"#,
            #""amount_cents":-9223372036854775808,"#, #""amount_cents":"9223372036854775807","#,
            #""amount_cents":400,"#, #""amount_cents":500,"tip_cents":-1,"#,
            #""amount_cents":500,"tip_cents":9223372036854775807,"#,
            #""amount_cents":500,"refunded_cents":-9223372036854775808,"#,
            #""amount_cents":500,"refunded_cents":501,"#, #""amount_cents":500,"currency":"jpy","#,
        ]
    )
    func wrongReply(members: String) async throws {
        let bench = try bench()
        bench.server.sessionMembers = members
        let request = RequestRecord(
            sid: wish.sid,
            eid: EID(literal: ScriptedServer.eid),
            server: Bench.server,
            amountCents: 500,
            currency: .usd,
            memo: nil,
            createdAt: .now,
            expiresAt: .now,
            state: .paid
        )
        for amount in [nil, 300] as [Int64?] {
            let wish = NewRefund(sid: wish.sid, amountCents: amount)
            await #expect(throws: Problem.self) {
                try await bench.payments.refund(wish, of: request)
            }
        }
        #expect(await bench.payments.views().isEmpty)
        #expect(bench.server.calls(.refund).isEmpty)
    }

    @Test("A refund in another currency, of an unpaid session or beside an open refund is refused")
    func refusals() async throws {
        let bench = try bench()
        var other = wish
        other.currency = .eur
        await #expect { try await bench.payments.refund(other, of: nil) } throws: {
            ($0 as? Problem)?.errorCode == .validationError
        }
        bench.server.sessionStatus = "locked"
        await #expect { try await bench.payments.refund(wish, of: nil) } throws: {
            ($0 as? Problem)?.errorCode == .sessionNotPaid
        }
        bench.server.sessionStatus = "paid"
        _ = try await bench.payments.refund(wish, of: nil)
        other = wish
        other.reference = "second cup"
        await #expect { try await bench.payments.refund(other, of: nil) } throws: {
            ($0 as? Problem)?.errorCode == .paymentInProgress
        }
        #expect(bench.server.calls(.refund).isEmpty)
    }
}
