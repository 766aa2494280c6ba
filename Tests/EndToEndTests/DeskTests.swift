import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// A contest that is entered at a kiosk, through the real programs.
@Suite("A desk from end to end", .timeLimit(.minutes(hangLimit)))
struct DeskTests {
    private struct Login: Decodable {
        let token: String
    }

    private struct Contest: Decodable {
        let id: String
    }

    /// A call to the server itself, as a user's own program makes it.
    private func call<Reply: Decodable>(
        _ shop: Shop,
        _ path: String,
        _ body: String,
        token: String? = nil
    ) async throws -> Reply {
        let key = UUID().uuidString
        let authorization = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
        let curl = try Program(
            "/usr/bin/curl",
            [
                "--silent", "--max-time", "20", "--header", "Content-Type: application/json",
                "--header", "Idempotency-Key: \(key)", "--data", body, shop.url + path,
            ] + authorization
        )
        _ = try await curl.exitCode()
        return try JSONDecoder().decode(Reply.self, from: Data(curl.text.utf8))
    }

    @Test("One payer taps the desk and is in the contest, and a second tap charges nothing")
    func tap() async throws {
        let shop = try await Shop(more: ["--contests"])
        let (kiosk, payer) = try await shop.pair()
        // The kiosk is logged in as the organiser.
        let login: Login = try await call(
            shop,
            "/auth/dev-login",
            #"{"email":"kiosk@example.com"}"#
        )
        let locks = Timestamp.now.advanced(by: .seconds(600)).iso8601
        let terms = """
            {"template_id":"01999f00-0000-7000-8000-000000000002","title":"Pub quiz",\
            "description":"Ten rounds.","entry_fee_cents":500,"currency":"usd",\
            "locks_at":"\(locks)","starts_at":"\(locks)","max_entries":2,\
            "tiers":[{"rank_min":1,"rank_max":1,"share_bps":10000}]}
            """
        let made: Contest = try await call(shop, "/api/contests", terms, token: login.token)
        let place = "/api/contests/\(made.id)"
        let _: Contest = try await call(shop, "\(place)/publish", "{}", token: login.token)
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
        let told = try await eventually("the kiosk is told") {
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
        let over: RequestView = try await kiosk.call(
            "DELETE",
            "/v1/requests/\(desk.id)",
            nil as String?
        )
        #expect(over.state == .cancelled)
        #expect(try await shop.verify().exitCode == 0)
    }
}
