import GotchuAPI
import GotchuCore
import Testing

@testable import GotchuCommands

@Suite("What is said of the end of a request, a payment or a refund")
struct OutcomeTextTests {
    private let plain = Terminal(descriptor: -1)

    private func request(_ state: RequestView.State, _ places: Places?) throws -> RequestView {
        RequestView(
            id: try #require(SessionID(rawValue: "g-1")),
            eid: .random(),
            state: state,
            amountCents: 600,
            places: places,
            currency: .usd,
            memo: nil,
            createdAt: Timestamp(milliseconds: 0),
            expiresAt: Timestamp(milliseconds: 1000),
            paidAt: nil,
            isOnAir: false,
            reason: "The request is over."
        )
    }

    @Test("The end of a shared bill or a desk says what was paid")
    func unpaid() throws {
        func text(_ state: RequestView.State, _ places: Places? = nil) throws -> String {
            try request(state, places).unpaidText(on: plain)
        }
        func places(_ kind: String, _ paid: Int64) -> Places {
            let cents = WireInteger(200 * paid)
            return Places(kind: kind, places: 3, paid: paid, held: 0, paidCents: cents)
        }
        let bill = places(Places.split, 2)
        #expect(try text(.cancelled, bill) == "Cancelled · 2 of 3 paid · $4.00 of $6.00")
        let one = places(Places.split, 1)
        #expect(try text(.expired, one) == "Expired · 1 of 3 paid · $2.00 of $6.00")
        let desk = places(Places.entry, 1)
        #expect(try text(.cancelled, desk) == "Cancelled · 1 of 3 places · $2.00")
        #expect(try text(.cancelled) == "Cancelled · nobody was charged")
        #expect(try text(.expired) == "Expired · nobody paid in time")
        var pool = try request(.cancelled, places(Places.split, 0))
        pool.isAllOrNothing = true
        #expect(pool.unpaidText(on: plain).hasSuffix(" · whatever was paid has gone back"))
    }
}
