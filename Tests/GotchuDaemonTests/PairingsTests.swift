import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import Synchronization
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("The pairing of till pages")
struct PairingsTests {
    private let grant = NewPairing(name: "Front")
    private let start = MonotonicTime(sinceStart: .zero)
    private let folder: TemporaryFolder
    private var random = SystemRandomNumberGenerator()

    init() throws {
        folder = try TemporaryFolder()
    }

    private mutating func begin(
        _ pairings: inout Pairings,
        _ ticket: String,
        by userID: UInt32 = 1,
        at time: MonotonicTime? = nil
    ) -> String? {
        pairings.begin(ticket: ticket, by: userID, at: time ?? start, using: &random)
    }

    @Test("A page receives its approval once, and its code can be approved once")
    mutating func once() throws {
        var pairings = Pairings()
        let code = try #require(begin(&pairings, "1"))
        #expect(code.wholeMatch(of: /[0-9]{6}/) != nil)
        #expect(pairings.outcome(of: "1", at: start) == .waiting)
        #expect(pairings.approve(code, as: grant, by: 1, at: start) == .approved)
        #expect(pairings.isNameTaken("Front"))
        #expect(pairings.approve(code, as: grant, by: 1, at: start) == .wrong(left: 4))
        #expect(pairings.outcome(of: "2", at: start) == .expired)
        #expect(pairings.outcome(of: "1", at: start) == .approved(grant))
        #expect(pairings.outcome(of: "1", at: start) == .expired)
    }

    @Test("A code expires after two minutes")
    mutating func late() throws {
        var pairings = Pairings()
        let code = try #require(begin(&pairings, "1"))
        let late = start + Pairings.codeLifetime
        #expect(pairings.outcome(of: "1", at: start + .seconds(119)) == .waiting)
        #expect(pairings.approve(code, as: grant, by: 1, at: late) == .wrong(left: 4))
        #expect(pairings.outcome(of: "1", at: late) == .expired)
    }

    @Test("At most three pages of a user wait at once, and no user takes the places of others")
    mutating func pending() throws {
        var pairings = Pairings()
        for user in UInt32(1)...8 {
            for _ in 1...3 { #expect(begin(&pairings, "\(user)", by: user) != nil) }
            #expect(begin(&pairings, "more", by: user) == nil, "\(user)")
        }
        #expect(begin(&pairings, "more", by: 9) == nil)
        #expect(begin(&pairings, "4", at: start + Pairings.codeLifetime) != nil)
    }

    @Test("A user who typed five wrong codes waits two minutes, and the pages keep their codes")
    mutating func wrong() throws {
        var pairings = Pairings()
        let codes = try (1...3).map { try #require(begin(&pairings, "\($0)")) }
        for left in [4, 3] {
            #expect(pairings.approve("wrong", as: grant, by: 1, at: start) == .wrong(left: left))
        }
        // A right code does not give more guesses.
        #expect(pairings.approve(codes[0], as: grant, by: 1, at: start) == .approved)
        let later = start + .seconds(30)
        for left in [2, 1, 0] {
            #expect(pairings.approve("wrong", as: grant, by: 1, at: later) == .wrong(left: left))
        }
        #expect(pairings.approve("wrong", as: grant, by: 1, at: later) == .blocked)
        #expect(pairings.approve(codes[1], as: grant, by: 1, at: later) == .blocked)
        #expect(pairings.approve(codes[1], as: grant, by: 2, at: later) == .approved)
        #expect(pairings.outcome(of: "2", at: later) == .approved(grant))
        #expect(pairings.outcome(of: "3", at: later) == .waiting)
        let end = start + Pairings.codeLifetime
        #expect(pairings.approve("wrong", as: grant, by: 1, at: end) == .wrong(left: 1))
    }

    @Test("A till's refunds are counted per day, and their sum cannot exceed the daily limit")
    func limit() {
        var till = Till(
            name: "Front",
            hash: "",
            createdAt: .now,
            refundsPerDayCents: 5000
        )
        let (friday, saturday) = ("2026-11-20", "2026-11-21")
        #expect(till.reserve(3000, as: "a", on: saturday) == true)
        #expect(till.reserve(3000, as: "a", on: saturday) == false)
        #expect(till.reserve(2001, as: "b", on: saturday) == nil)
        #expect(till.reserve(.max, as: "b", on: saturday) == nil)
        #expect(till.reserve(0, as: "b", on: saturday) == nil)
        #expect(till.reserve(2000, as: "b", on: saturday) == true)
        till.release("b", on: friday)
        #expect(till.refunded(on: saturday) == 5000 && till.refunded(on: friday) == 0)
        till.release("b", on: saturday)
        #expect(till.reserve(2000, as: "c", on: saturday) == true)
        #expect(till.reserve(1, as: "d", on: saturday) == nil)
        #expect(till.reserve(5000, as: "d", on: "2026-11-22") == true)
    }

    @Test("A clock that shows other days for a while does not make a day's refund limit begin anew")
    func otherDays() {
        var till = Till(name: "Front", hash: "", createdAt: .now, refundsPerDayCents: 5000)
        #expect(till.reserve(5000, as: "a", on: "2026-11-21") == true)
        for day in 1..<Till.dayLimit {
            #expect(till.reserve(1, as: "b", on: "2026-01-0\(day)") == true)
        }
        #expect(till.reserve(1, as: "c", on: "2026-11-21") == nil)
        #expect(till.refunded(on: "2026-11-21") == 5000)
        for day in 1...100 { _ = till.reserve(1, as: "b", on: "day \(day)") }
        #expect(till.days.count == Till.dayLimit)
    }

    /// Pairs a till that may refund $9.00 a day, and returns the till's token.
    private func pair(_ service: TillService) throws -> String {
        let offer = try service.begin(by: 1)
        let new = NewPairing(name: "Front", refundsPerDayCents: 900)
        #expect(try service.approve(offer.code, as: new, by: 1).refundsPerDayCents == 900)
        return try #require(try service.outcome(ofTicket: offer.ticket).token)
    }

    private func wish(_ cents: Int64) throws -> NewRefund {
        NewRefund(sid: try #require(SessionID(rawValue: "a")), amountCents: cents)
    }

    private func made(_ refund: NewRefund, isReplay: Bool = false) -> Created<PaymentView> {
        let view = PaymentView(
            id: "1",
            kind: .refund,
            state: .sending,
            sid: refund.sid,
            eid: nil,
            amountCents: refund.amountCents ?? 0,
            currency: .usd,
            payee: "",
            createdAt: .now,
            updatedAt: .now,
            code: nil,
            detail: "",
            nextStep: nil,
            newBalanceCents: nil,
            transferID: nil
        )
        return Created(view, isReplay: isReplay)
    }

    @Test(
        "The state file does not contain the token; the till and its refunds survive a restart"
    )
    func restart() async throws {
        let service = TillService(stateDirectory: folder.path) {}
        let token = try pair(service)
        #expect(token.utf8.count == 43)
        _ = try await service.refund(try wish(500), byToken: token) { made($0) }
        let text = try String(contentsOfFile: folder.path + "/screens.json", encoding: .utf8)
        #expect(!text.contains(token) && text.contains("Front"))

        let again = TillService(stateDirectory: folder.path) {}
        #expect(again.till(ofToken: token)?.refundedTodayCents == 500)
        #expect(again.till(ofToken: "") == nil)
        let refused = await #expect(throws: Problem.self) {
            try await again.refund(try wish(401), byToken: token) { made($0) }
        }
        #expect(refused?.errorCode == .refundTooLarge)
    }

    @Test("A failed refund and a repeated earlier refund do not count towards the till's limit")
    func released() async throws {
        let service = TillService(stateDirectory: folder.path) {}
        let token = try pair(service)
        let away = await #expect(throws: Problem.self) {
            try await service.refund(try wish(900), byToken: token) { _ throws(Problem) in
                throw Problem(.serverUnreachable, detail: "It is away.")
            }
        }
        #expect(away?.errorCode == .serverUnreachable)
        _ = try await service.refund(try wish(900), byToken: token) { made($0, isReplay: true) }
        #expect(service.till(ofToken: token)?.refundedTodayCents == 0)
    }

    @Test("A refund of which nobody knows whether it was started counts towards the till's limit")
    func unknown() async throws {
        let service = TillService(stateDirectory: folder.path) {}
        let token = try pair(service)
        await #expect(throws: Problem.self) {
            try await service.refund(try wish(900), byToken: token) { _ throws(Problem) in
                throw Problem(.outcomeUnknown, detail: "The disk broke.")
            }
        }
        #expect(service.till(ofToken: token)?.refundedTodayCents == 900)
    }

    @Test(
        "A refund that two simultaneous calls request counts once, even if the first call fails"
    )
    func together() async throws {
        let service = TillService(stateDirectory: folder.path) {}
        let token = try pair(service)
        let refund = try wish(900)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        async let first = #expect(throws: Problem.self) {
            try await service.refund(refund, byToken: token) { _ throws(Problem) in
                begin.finish()
                for await _ in ends {}
                throw Problem(.serverUnreachable, detail: "It is away.")
            }
        }
        for await _ in begun {}
        async let second = service.refund(refund, byToken: token) { made($0) }
        // The yields let the second call run before the first call ends.
        for _ in 0..<10_000 { await Task.yield() }
        end.finish()
        _ = await first
        _ = try await second
        #expect(service.till(ofToken: token)?.refundedTodayCents == 900)
    }

    @Test(
        "A revocation removes a till's token and ends its streams; a second revocation is refused"
    )
    func revoked() throws {
        let endings = Mutex(0)
        let service = TillService(stateDirectory: folder.path) { endings.withLock { $0 += 1 } }
        let token = try pair(service)
        #expect(try service.revoke("Front").name == "Front")
        #expect(service.till(ofToken: token) == nil && endings.withLock(\.self) == 1)
        let unknown = #expect(throws: Problem.self) { try service.revoke("Front") }
        #expect(unknown?.errorCode == .notFound && endings.withLock(\.self) == 1)
    }
}
