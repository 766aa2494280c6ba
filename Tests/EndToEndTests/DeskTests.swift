import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// The entry to a contest by a payment at a kiosk, with the real programs.
@Suite("A desk from end to end")
struct DeskTests {
    private struct Contest: Decodable {
        let id: String
    }

    @Test("A payer who pays at the desk is in the contest, and a second payment charges nothing")
    func tap() async throws {
        let shop = try await Shop(more: ["--contests"])
        let (kiosk, payer) = try await shop.pair()
        // The kiosk is logged in as the organiser.
        let token = try await ServerCall.login(shop.url, "kiosk")
        let locks = Timestamp.now.advanced(by: .seconds(600)).iso8601
        let terms = """
            {"template_id":"01999f00-0000-7000-8000-000000000002","title":"Pub quiz",\
            "description":"Ten rounds.","entry_fee_cents":500,"currency":"usd",\
            "locks_at":"\(locks)","starts_at":"\(locks)","max_entries":2,\
            "tiers":[{"rank_min":1,"rank_max":1,"share_bps":10000}]}
            """
        let made: Contest = try await ServerCall.post(
            shop.url,
            "/api/contests",
            terms,
            token: token
        )
        let place = "/api/contests/\(made.id)"
        let _: Contest = try await ServerCall.post(shop.url, "\(place)/publish", "{}", token: token)
        let desk: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 500, ttlSeconds: 3_600, contestID: made.id)
        )
        #expect(desk.isOnAir && desk.state == .advertising)
        #expect(desk.expiresAt < .now.advanced(by: .seconds(700)))
        let shown: ResolvedSession = try await payer.call(
            "POST",
            "/v1/resolve",
            ResolveRequest(eid: desk.eid)
        )
        #expect(shown.amountCents == 500 && shown.memo == "Pub quiz")
        #expect(shown.places?.kind == "entry")
        let new = NewPayment(eid: desk.eid, confirmAmountCents: 500)
        let begun: PaymentView = try await payer.call("POST", "/v1/payments", new)
        #expect(try await end(of: begun, on: payer).state == .paid)
        let told = try await eventually("the kiosk learns of the payment") {
            let view = try await kiosk.get("/v1/requests/\(desk.id)", as: RequestView.self)
            return view.places?.paid == 1 ? view : nil
        }
        #expect(told.progress == "1 of 2 places · $5.00" && told.state == .advertising)
        #expect(try await payer.balance() == 9_500)
        #expect(try await kiosk.balance() == 10_000)
        let again: PaymentView = try await payer.call("POST", "/v1/payments", new)
        let refused = try await end(of: again, on: payer)
        #expect(refused.state == .declined && refused.code == "ALREADY_JOINED")
        #expect(try await payer.balance() == 9_500)
        #expect(told.contest?.placesLeft.value == 1 && told.contest?.title == "Pub quiz")
        let _: Contest = try await ServerCall.post(shop.url, "\(place)/lock", "{}", token: token)
        try await eventually("the desk leaves the air with its contest's lock") {
            let view = try await kiosk.get("/v1/requests/\(desk.id)", as: RequestView.self)
            return view.state == .cancelled && !view.isOnAir ? true : nil
        }
        #expect(try await shop.verify().exitCode == 0)
    }
}
