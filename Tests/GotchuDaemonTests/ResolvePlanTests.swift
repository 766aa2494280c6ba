import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("The plan of EIDs to resolve in the background")
struct ResolvePlanTests {
    /// A reference to a plan, which an expectation can change.
    private final class Plan {
        private var value = ResolvePlan()

        func enqueue(
            _ eid: EID,
            level: Double,
            since: MonotonicTime? = nil,
            isTap: Bool = false,
            at now: MonotonicTime
        ) -> Bool {
            value.enqueue(eid, level: level, since: since ?? now, isTap: isTap, at: now)
        }
        func isTap(_ eid: EID) -> Bool { value.isTap(eid) }
        func next(at now: MonotonicTime) -> EID? { value.next(at: now) }
        func wait(at now: MonotonicTime) -> Duration? { value.wait(at: now) }
        func removeFromQueue(_ eid: EID) { value.removeFromQueue(eid) }
        func session(of eid: EID) -> ResolvedSession? { value.session(of: eid) }
        func hasNoSession(_ eid: EID, at now: MonotonicTime) -> Bool {
            value.hasNoSession(eid, at: now)
        }
        func end(_ session: SessionID, at now: MonotonicTime) -> [EID] {
            value.end(session, at: now)
        }
        func record(
            _ eid: EID,
            _ outcome: ResolvePlan.Outcome,
            isBackground: Bool = true,
            askedAt: MonotonicTime? = nil,
            at now: MonotonicTime
        ) {
            value.record(eid, outcome, isBackground: isBackground, askedAt: askedAt, at: now)
        }
    }

    private let plan = Plan()
    private let start = MonotonicTime.now
    private let session: ResolvedSession

    init() throws {
        session = ResolvedSession(
            sid: try #require(SessionID(rawValue: "s")),
            amountCents: 500,
            currency: .usd,
            payee: "kiosk",
            payeeID: nil,
            memo: nil,
            status: .advertising,
            expiresAt: .now
        )
    }

    private func at(_ seconds: Double) -> MonotonicTime { start + .seconds(seconds) }

    @Test("The strongest EID is resolved first, and again only after a minute")
    func strongest() {
        let (weak, strong) = (EID(literal: "aaaaaaaaaa"), EID(literal: "bbbbbbbbbb"))
        #expect(plan.enqueue(weak, level: -60, at: start))
        #expect(plan.enqueue(strong, level: -40, at: start))
        #expect(!plan.enqueue(strong, level: -41, at: start))
        #expect(plan.next(at: start) == strong)
        plan.record(strong, .session(session), at: start)
        #expect(plan.session(of: strong) == session)
        #expect(plan.next(at: start) == weak)
        plan.removeFromQueue(weak)
        #expect(plan.next(at: start) == nil)
        #expect(!plan.enqueue(strong, level: -40, at: at(59)))
        #expect(plan.enqueue(strong, level: -40, at: at(61)))
    }

    @Test("A tap is resolved at once even if an answer is fresh, and again eight seconds later")
    func tap() {
        let eid = EID(literal: "aaaaaaaaaa")
        _ = plan.enqueue(eid, level: -50, at: start)
        #expect(!plan.isTap(eid))
        plan.record(eid, .session(session), at: start)
        #expect(!plan.enqueue(eid, level: -50, at: at(1)))
        #expect(plan.enqueue(eid, level: -30, isTap: true, at: at(1)))
        #expect(plan.isTap(eid) && plan.next(at: at(1)) == eid)
        plan.record(eid, .session(session), at: at(1))
        #expect(!plan.enqueue(eid, level: -30, isTap: true, at: at(8.9)))
        #expect(plan.enqueue(eid, level: -30, isTap: true, at: at(9)))
        plan.record(eid, .unknown(retryAfter: nil), at: at(9))
        #expect(!plan.enqueue(eid, level: -30, isTap: true, at: at(16)))
        #expect(plan.enqueue(eid, level: -30, isTap: true, at: at(17)))
    }

    @Test("A tap of an EID without a session is not resolved again after nine seconds")
    func strangersTap() {
        let eid = EID(literal: "aaaaaaaaaa")
        #expect(plan.enqueue(eid, level: -30, isTap: true, at: start))
        plan.record(eid, .noSession, at: start)
        #expect(!plan.enqueue(eid, level: -30, isTap: true, at: at(9)))
    }

    @Test("Three hundred EIDs without sessions cause ten calls at first, then about three a minute")
    func strangers() {
        var random = SeededGenerator("strangers")
        let crowd = (0..<300).map { _ in EID.random(using: &random) }
        var asked: [Double] = []
        for second in 0..<600 {
            let now = at(Double(second))
            for eid in crowd { _ = plan.enqueue(eid, level: -45, since: at(-20), at: now) }
            while let eid = plan.next(at: now) {
                asked.append(Double(second))
                plan.record(eid, .noSession, at: now)
            }
        }
        #expect(asked.filter { $0 < 10 }.count == ResolvePlan.missLimit)
        #expect((35...42).contains(asked.count), "\(asked.count) in ten minutes")
    }

    @Test("A new EID beside a crowd is resolved at once; only a few EIDs of a second crowd are")
    func newcomer() {
        var random = SeededGenerator("newcomer")
        let crowd = (0..<300).map { _ in EID.random(using: &random) }
        func wantCrowd(at now: MonotonicTime) {
            for eid in crowd { _ = plan.enqueue(eid, level: -45, since: at(-20), at: now) }
        }
        for second in 0..<30 {
            wantCrowd(at: at(Double(second)))
            while let eid = plan.next(at: at(Double(second))) {
                plan.record(eid, .noSession, at: at(Double(second)))
            }
        }
        let till = EID(literal: "aaaaaaaaaa")
        #expect(plan.enqueue(till, level: -50, at: at(30)))
        wantCrowd(at: at(30))
        #expect(plan.next(at: at(30)) == till)
        plan.record(till, .session(session), at: at(30))
        #expect(plan.next(at: at(30)) == nil)
        var asked = 0
        for _ in 0..<300 { _ = plan.enqueue(.random(using: &random), level: -45, at: at(31)) }
        while let eid = plan.next(at: at(31)) {
            asked += 1
            plan.record(eid, .noSession, at: at(31))
        }
        #expect((1...ResolvePlan.newcomerMissLimit).contains(asked), "\(asked)")
    }

    @Test("An EID without a session is resolved again after 10 s, 30 s, and then every 5 min")
    func again() {
        let eid = EID(literal: "aaaaaaaaaa")
        var now = 0.0
        for wait in [10.0, 30, 300, 300] {
            #expect(plan.enqueue(eid, level: -40, at: at(now)))
            plan.record(eid, .noSession, at: at(now))
            #expect(!plan.enqueue(eid, level: -40, at: at(now + wait - 0.1)))
            now += wait + 0.1
        }
    }

    @Test("A refusal is not renewed by a query without an answer")
    func outage() {
        let eid = EID(literal: "aaaaaaaaaa")
        plan.record(eid, .noSession, at: start)
        #expect(plan.hasNoSession(eid, at: at(9.9)))
        plan.record(eid, .unknown(retryAfter: nil), at: at(9.9))
        #expect(plan.hasNoSession(eid, at: at(9.9)))
        #expect(!plan.hasNoSession(eid, at: at(10)))
        plan.record(eid, .unknown(retryAfter: nil), at: at(11))
        #expect(!plan.hasNoSession(eid, at: at(12)))
    }

    @Test("An answer that arrives after the answer to a later query is dropped")
    func overtaken() {
        let eid = EID(literal: "aaaaaaaaaa")
        plan.record(eid, .session(session), askedAt: at(1), at: at(1.1))
        plan.record(eid, .noSession, askedAt: start, at: at(2))
        #expect(plan.session(of: eid) == session && !plan.hasNoSession(eid, at: at(2)))
        // A query without an answer overtakes nothing.
        plan.record(eid, .unknown(retryAfter: nil), askedAt: at(4), at: at(5))
        plan.record(eid, .noSession, isBackground: false, askedAt: at(3), at: at(6))
        #expect(plan.session(of: eid) == nil && plan.hasNoSession(eid, at: at(6)))
        plan.record(eid, .session(session), askedAt: at(2), at: at(7))
        #expect(plan.hasNoSession(eid, at: at(7)))
    }

    @Test("A person's queries do not use up the misses of the background")
    func foreground() {
        var random = SeededGenerator("foreground")
        for _ in 0..<100 {
            plan.record(.random(using: &random), .noSession, isBackground: false, at: start)
        }
        let eid = EID(literal: "aaaaaaaaaa")
        _ = plan.enqueue(eid, level: -40, at: start)
        #expect(plan.next(at: start) == eid)
        plan.record(eid, .noSession, isBackground: false, at: start)
        #expect(plan.next(at: start) == nil)
        // A tap that is queued is still reported.
        _ = plan.enqueue(eid, level: -40, isTap: true, at: at(11))
        plan.record(eid, .session(session), isBackground: false, at: at(11))
        #expect(plan.next(at: at(11)) == eid && plan.isTap(eid))
    }

    @Test("A paid session has ended, and a session that several payers share has not")
    func ended() {
        let (own, desk) = (EID(literal: "aaaaaaaaaa"), EID(literal: "bbbbbbbbbb"))
        var shared = session
        shared.places = Places(
            kind: Places.split,
            places: 3,
            paid: 1,
            held: 0,
            paidCents: WireInteger(500)
        )
        plan.record(own, .session(session), at: start)
        #expect(plan.end(session.sid, at: at(1)) == [own])
        #expect(plan.hasNoSession(own, at: at(60)))
        plan.record(desk, .session(shared), at: start)
        #expect(plan.end(session.sid, at: at(1)).isEmpty)
        #expect(plan.session(of: desk) == shared)
        // The answer to a query that began before the end is dropped.
        plan.record(own, .session(session), askedAt: start, at: at(2))
        #expect(plan.session(of: own) == nil)
    }

    @Test("A server that sends Retry-After gets no call before that time")
    func patience() {
        let (first, second) = (EID(literal: "aaaaaaaaaa"), EID(literal: "bbbbbbbbbb"))
        _ = plan.enqueue(first, level: -40, at: start)
        plan.record(first, .unknown(retryAfter: .seconds(45)), at: start)
        _ = plan.enqueue(second, level: -40, at: at(1))
        #expect(plan.next(at: at(44)) == nil)
        #expect(plan.wait(at: at(44)) == .seconds(1))
        #expect(plan.next(at: at(45)) == second)
    }
}
