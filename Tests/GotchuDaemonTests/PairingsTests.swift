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
        at time: MonotonicTime? = nil
    ) -> String? {
        pairings.begin(ticket: ticket, at: time ?? start, using: &random)
    }

    @Test("A page receives its approval once, and its code can be approved once")
    mutating func once() throws {
        var pairings = Pairings()
        let code = try #require(begin(&pairings, "1"))
        #expect(code.wholeMatch(of: /[0-9]{6}/) != nil)
        #expect(pairings.outcome(of: "1", at: start) == .waiting)
        #expect(pairings.approve(code, as: grant, at: start) == .approved)
        #expect(pairings.isNameTaken("Front"))
        #expect(pairings.approve(code, as: grant, at: start) == .wrong(left: 4))
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
        #expect(pairings.approve(code, as: grant, at: late) == .wrong(left: 4))
        #expect(pairings.outcome(of: "1", at: late) == .expired)
    }

    @Test("At most three pages wait at once, each with its own code")
    mutating func pending() throws {
        var pairings = Pairings()
        let codes = try (1...3).map { try #require(begin(&pairings, "\($0)")) }
        #expect(Set(codes).count == 3)
        #expect(begin(&pairings, "4") == nil)
        #expect(begin(&pairings, "4", at: start + Pairings.codeLifetime) != nil)
    }

    @Test("Five wrong codes in a row void all waiting codes, and a right code resets the count")
    mutating func wrong() throws {
        var pairings = Pairings()
        let codes = try (1...3).map { try #require(begin(&pairings, "\($0)")) }
        for left in [4, 3, 2, 1] {
            #expect(pairings.approve("wrong", as: grant, at: start) == .wrong(left: left))
        }
        #expect(pairings.approve(codes[0], as: grant, at: start) == .approved)
        for left in [4, 3, 2, 1] {
            #expect(pairings.approve("wrong", as: grant, at: start) == .wrong(left: left))
        }
        #expect(pairings.approve("wrong", as: grant, at: start) == .voided)
        #expect(pairings.outcome(of: "2", at: start) == .expired)
        #expect(pairings.outcome(of: "1", at: start) == .approved(grant))
    }

    @Test("A till's refunds are counted per day, and their sum cannot exceed the daily limit")
    func limit() {
        var till = Till(
            name: "Front",
            hash: "",
            createdAt: .now,
            refundsPerDayCents: 5000,
            refundDay: nil,
            refunds: [:]
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

    /// Pairs a till that may refund $9.00 a day, and returns the till's token.
    private func pair(_ service: TillService) throws -> String {
        let offer = try service.begin()
        let new = NewPairing(name: "Front", refundsPerDayCents: 900)
        #expect(try service.approve(offer.code, as: new).refundsPerDayCents == 900)
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
