import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// EIDs near a payer that the payer's own server does not know.
@Suite("Strangers on the air")
struct StrangerAirTests {
    private static let payments = 10
    /// The bound, in seconds, of the latency histogram's bucket that must contain every payment.
    /// The aim is 3 s; the bound allows for a loaded machine with two cores.
    private static let limit = patience == 1 ? "5.0" : "20.0"

    @Test(
        "A payer with unknown EIDs nearby pays the right till in ten of ten payments",
        arguments: [
            // Three EIDs of another operator's tills, as near as our till.
            (strangers: 3, at: 0.1),
            // Twelve random EIDs as near as the till.
            (strangers: 12, at: 0.05),
        ]
    )
    func pays(strangers: Int, at distance: Double) async throws {
        try await pay(beside: strangers, at: distance) { payer in
            try await expectUnknownLookUps(allowed: 19, on: payer)
        }
    }

    @Test("A payer with hundreds of unknown EIDs a little farther away pays the right till")
    func crowd() async throws {
        // The look-ups are not counted: a call that is ambiguous looks up the three strongest EIDs.
        try await pay(beside: 300, at: 0.18) { _ in }
    }

    /// Pays ten requests beside strangers.
    ///
    /// - Parameter check: Called with the payer at the end.
    private func pay(
        beside strangers: Int,
        at distance: Double,
        then check: (Device) async throws -> Void
    ) async throws {
        let shop = try await Shop()
        let till = strangers > 3 ? "0.05,0" : "0.1,0"
        let (kiosk, payer) = try await shop.pair(kioskAt: till, payerAt: "0,0")
        let beacon = Beacon(to: try payer.radioPath(), count: strangers, at: distance)
        defer { beacon.stop() }
        try await eventually("the strangers are heard") {
            try await payer.get("/v1/sessions", as: PresencesReply.self).sessions.count
                >= min(strangers, 200) ? true : nil
        }
        var slowest: Duration = .zero
        for _ in 0..<Self.payments {
            let began = ContinuousClock.now
            let request: RequestView = try await kiosk.call(
                "POST",
                "/v1/requests",
                NewRequest(amountCents: 100)
            )
            let wish = NewPayment(
                eid: request.eid,
                confirmAmountCents: 100,
                confirmPayee: "kiosk",
                proximity: .tap
            )
            // The call is repeated, because levels are noisy: one of so many strangers may seem as
            // near as the till for a moment.
            let payment: PaymentView = try await eventually("a call pays", within: .seconds(20)) {
                guard try await payer.verdict(on: request.eid) == .tap else { return nil }
                do {
                    return try await payer.call("POST", "/v1/payments", wish) as PaymentView
                } catch let problem as Problem
                    where [.ambiguous, .notNear].contains(problem.errorCode)
                {
                    return nil
                }
            }
            #expect(try await end(of: payment, on: payer).state == .paid)
            slowest = max(slowest, began.duration(to: .now))
        }
        print("\(strangers) strangers: the slowest of \(Self.payments) payments took \(slowest)")
        #expect(try await payer.balance() == 10_000 - 100 * Int64(Self.payments))
        // The daemon measures from the moment at which it first heard the till near.
        let metrics = try await Metrics(of: payer)
        let name = "gotchu_tap_latency_seconds"
        #expect(metrics[name + "_count"] == Double(Self.payments))
        let quick = metrics[name + "_bucket", ["le": Self.limit]]
        #expect(quick == Double(Self.payments), "\(quick ?? 0) within \(Self.limit) s")
        try await check(payer)
    }

    /// Checks that the person can look up `allowed` unknown EIDs before a refusal. The daemon's own
    /// look-ups do not count.
    private func expectUnknownLookUps(allowed: Int, on payer: Device) async throws {
        for _ in 0..<allowed {
            await #expect {
                let lookUp = ResolveRequest(eid: .random())
                _ = try await payer.call("POST", "/v1/resolve", lookUp) as ResolvedSession
            } throws: { ($0 as? Problem)?.errorCode == .notFound }
        }
        let refusal = try await eventually("the person's look-ups are refused") {
            do {
                let lookUp = ResolveRequest(eid: .random())
                _ = try await payer.call("POST", "/v1/resolve", lookUp) as ResolvedSession
                return nil as Problem?
            } catch let problem as Problem where problem.errorCode != .notFound {
                return problem
            } catch is Problem {
                return nil
            }
        }
        #expect(refusal.detail.contains("Too many unknown EIDs were looked up."), "\(refusal)")
    }

    @Test("Advertisements from invalid or distant positions on the simulated air are not heard")
    func nowhere() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("payer", at: "0,0")
        let radio = try device.radioPath()
        let distances = [1e200, 1.7e308, -1e308, .nan, .infinity, 50_000, 1]
        let beacons = distances.map { Beacon(to: radio, count: 1, at: $0) }
        defer { for beacon in beacons { beacon.stop() } }
        try await eventually("the beacon at a metre is heard twice a second") {
            let heard = try await device.get("/v1/sessions", as: PresencesReply.self).sessions
            #expect(heard.count <= 1)
            return heard.contains { $0.rateHz > 2 } ? true : nil
        }
    }
}
