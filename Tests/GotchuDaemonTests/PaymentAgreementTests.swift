import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Agreeing to a payment")
struct PaymentAgreementTests {
    private let eid = EID(literal: ScriptedServer.eid)

    @Test("The daemon resolves an EID once for the view and the agreement")
    func oneResolve() async throws {
        let bench = try Bench()
        let shown = try await bench.payments.resolve(eid)
        #expect(shown.amountCents == 500 && shown.isPayeeKnown == false)
        var wish = Bench.wish
        wish.confirmCurrency = shown.currency
        wish.confirmPayee = shown.payee
        wish.confirmPayeeID = shown.payeeID
        wish.tipCents = 50
        let id = try await bench.agree(wish)
        await bench.drive()
        #expect(try await bench.payments.view(of: id).state == .paid)
        #expect(bench.server.routes == [.resolve, .lock, .send])
        #expect(bench.server.calls(.send)[0].body.contains(#""expected_amount_cents":500"#))
        #expect(try await bench.payments.resolve(eid).isPayeeKnown == true)
    }

    @Test("A payment belongs to the user who agreed, even if another user logs in during the call")
    func otherLogin() async throws {
        let bench = try Bench()
        let gate = bench.server.stop(at: .resolve)
        async let id = bench.agree()
        await gate.reached()
        try bench.core.tokens.store(Bench.token(of: "bob"))
        gate.open()
        let view = try await bench.payments.view(of: try await id)
        guard case .payment(let record) = bench.journal.records.last else {
            Issue.record("The journal's last record is not a payment")
            return
        }
        #expect(record.user == "ann" && record.id == view.id)
        await bench.driveToWait(view.id)
        #expect(bench.server.calls(.lock).isEmpty && bench.server.movements == 0)
    }

    @Test("The radio listens for a payment that requires a proximity, and for no other payment")
    func listening() async throws {
        let bench = try Bench()
        _ = try await bench.agree()
        #expect(bench.proximity.listenCount == 0)
        let other = try Bench()
        other.proximity.hear(.tap)
        var wish = Bench.wish
        wish.proximity = .tap
        _ = try await other.agree(wish)
        #expect(other.proximity.listenCount == 1)
    }

    @Test("A resolved session is fresh for a minute; an EID without a session has no fresh session")
    func lifetime() throws {
        var plan = ResolvePlan()
        let start = MonotonicTime(sinceStart: .zero)
        let session = ResolvedSession(
            sid: try #require(SessionID(rawValue: ScriptedServer.sid)),
            amountCents: 500,
            currency: .usd,
            payee: "",
            payeeID: nil,
            memo: nil,
            status: nil,
            expiresAt: nil
        )
        plan.record(eid, .session(session), at: start)
        let end = start + ResolvePlan.lifetime
        #expect(plan.freshSession(of: eid, at: start + .seconds(59)) == session)
        #expect(plan.freshSession(of: eid, at: end) == nil)
        // The outcome `unknown` does not make an old session fresh. The outcome `noSession` removes
        // the session.
        plan.record(eid, .unknown(retryAfter: nil), at: end)
        #expect(plan.freshSession(of: eid, at: end) == nil)
        plan.record(eid, .session(session), at: end)
        plan.record(eid, .noSession, at: end)
        #expect(plan.freshSession(of: eid, at: end) == nil)
    }

    @Test("A refused or lost resolve call is not cached; the next agreement asks the server again")
    func refusedResolve() async throws {
        let bench = try Bench()
        bench.server.script(.resolve, .refused(410, "SESSION_EXPIRED"), .lost)
        for code in [ErrorCode.sessionExpired, .serverUnreachable] {
            await #expect { try await bench.agree() } throws: {
                ($0 as? Problem)?.errorCode == code
            }
        }
        #expect(try await bench.pay().state == .paid)
        #expect(bench.server.calls(.resolve).count == 3)
    }

    /// Agreements that the daemon refuses, each with its error code.
    private static let others: [(NewPayment, ErrorCode)] = {
        func wish(_ change: (inout NewPayment) -> Void) -> NewPayment {
            var wish = Bench.wish
            change(&wish)
            return wish
        }
        return [
            (wish { $0.confirmAmountCents = 501 }, .amountChanged),
            (wish { $0.confirmCurrency = .eur }, .amountChanged),
            (wish { $0.confirmPayee = "Corner Café" }, .payeeChanged),
            (wish { $0.confirmPayeeID = "p-2" }, .payeeChanged),
            (wish { $0.sid = SessionID(rawValue: "s-2") }, .validationError),
            (wish { $0.confirmAmountCents = 0 }, .validationError),
            (wish { $0.tipCents = -1 }, .validationError),
            (wish { $0.proximity = .near }, .notNear),
            (wish { $0.eid = nil }, .validationError),
        ]
    }()

    @Test("An agreement that differs from the session is refused, with or without a cached answer")
    func changed() async throws {
        let bench = try Bench()
        for isRemembered in [false, true] {
            if isRemembered { _ = try await bench.payments.resolve(eid) }
            for (wish, code) in Self.others {
                await #expect("\(wish)") { try await bench.agree(wish) } throws: {
                    ($0 as? Problem)?.errorCode == code
                }
            }
        }
        // A payer who is not near enough causes another call: the session may have ended.
        #expect(bench.server.routes == [.resolve, .resolve, .resolve])
        #expect(bench.journal.records.isEmpty)
    }

    @Test("A payment that requires a proximity is refused until that proximity is heard")
    func proximity() async throws {
        let bench = try Bench()
        var wish = Bench.wish
        for (wanted, heard, code) in [
            (Verdict.tap, Verdict.near, ErrorCode.notNear), (.near, .far, .notNear),
            (.near, .ambiguous, .ambiguous),
        ] {
            wish.proximity = wanted
            bench.proximity.hear(heard)
            await #expect { try await bench.agree(wish) } throws: {
                ($0 as? Problem)?.errorCode == code
            }
        }
        bench.proximity.hear(.tap)
        _ = try await bench.agree(wish)
    }

    @Test(
        "A session that ended while the payer decided is reported as ended, not as too far away",
        arguments: [ErrorCode.sessionPaid, .sessionCancelled, .sessionExpired]
    )
    func endedMeanwhile(_ code: ErrorCode) async throws {
        let bench = try Bench()
        _ = try await bench.payments.resolve(eid)
        bench.server.script(.resolve, .refused(409, code.rawValue))
        var wish = Bench.wish
        wish.proximity = .tap
        await #expect { try await bench.agree(wish) } throws: {
            ($0 as? Problem)?.errorCode == code
        }
        #expect(bench.journal.records.isEmpty)
    }

    @Test("A payment without a login is refused")
    func notLoggedIn() async throws {
        let bench = try Bench(user: nil)
        await #expect { try await bench.agree() } throws: {
            ($0 as? Problem)?.errorCode == .notLoggedIn
        }
        #expect(bench.server.calls.isEmpty)
    }

    @Test("Agreements with two keys make one payment, and both keys refer to it after its end")
    func twoPresses() async throws {
        let bench = try Bench()
        let keys = [IdempotencyKey.random(), .random()]
        let resolve = bench.server.stop(at: .resolve)
        async let first = bench.payments.create(Bench.wish, key: keys[0])
        await resolve.reached()
        async let repeated = bench.payments.create(Bench.wish, key: keys[0])
        resolve.open()
        let views = try await [first, repeated]
        #expect(Set(views.map(\.view.id)).count == 1)
        #expect(Set(views.map(\.isReplay)) == [true, false])
        let id = views[0].view.id
        #expect(try await bench.payments.create(Bench.wish, key: keys[1]).view.id == id)
        await bench.drive()
        for key in keys {
            let again = try await bench.payments.create(Bench.wish, key: key)
            #expect(again.isReplay && again.view.id == id && again.view.state == .paid)
        }
        var other = Bench.wish
        other.tipCents = 1
        await #expect { try await bench.payments.create(other, key: keys[1]) } throws: {
            ($0 as? Problem)?.errorCode == .idempotencyKeyReused
        }
        #expect(bench.server.movements == 1)
    }

    @Test("A second payment of an open session with another tip or user is refused")
    func otherWish() async throws {
        let bench = try Bench()
        _ = try await bench.agree()
        var tipped = Bench.wish
        tipped.tipCents = 50
        await #expect { try await bench.agree(tipped) } throws: {
            ($0 as? Problem)?.errorCode == .amountChanged
        }
        try bench.core.tokens.store(Bench.token(of: "bob"))
        await #expect { try await bench.agree() } throws: {
            ($0 as? Problem)?.errorCode == .paymentInProgress
        }
        #expect(await bench.payments.views().count == 1)
    }
}
