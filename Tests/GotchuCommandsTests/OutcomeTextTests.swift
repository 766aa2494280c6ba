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

    @Test("The event of a refund names the request, as a refund has no payee")
    func refundEvent() throws {
        var view = PaymentView(
            id: "r-1",
            kind: .refund,
            state: .paid,
            sid: try #require(SessionID(rawValue: "g-1-1")),
            eid: nil,
            amountCents: 200,
            currency: .usd,
            payee: "",
            createdAt: Timestamp(milliseconds: 0),
            updatedAt: Timestamp(milliseconds: 0),
            code: nil,
            detail: "Refunded $2.00.",
            nextStep: nil,
            newBalanceCents: nil,
            transferID: nil
        )
        func line(_ view: PaymentView) -> String? {
            let time = Timestamp(milliseconds: 0)
            return Event.paymentChanged(view).lines(at: time, on: plain).first
        }
        let refund = " <-- refund $2.00 of g-1-1 paid · Refunded $2.00."
        #expect(line(view)?.hasSuffix(refund) == true)
        view.kind = nil
        view.payee = "Shop"
        view.detail = "Paid."
        #expect(line(view)?.hasSuffix(" <-- payment $2.00 to “Shop” paid · Paid.") == true)
    }
}
