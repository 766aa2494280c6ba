import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// EIDs near a payer that the payer's own server does not know.
@Suite("Strangers on the air", .timeLimit(.minutes(hangLimit)))
struct StrangerAirTests {
    private static let payments = 10

    @Test(
        "A payer pays the right till, ten times of ten",
        arguments: [
            // Another operator's tills as near as ours.
            (strangers: 3, at: 0.1), (strangers: 300, at: 0.18),
        ]
    )
    func pays(strangers: Int, at distance: Double) async throws {
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
            // Held there until it works: one of so many noisy levels may come close for a moment.
            let payment: PaymentView = try await eventually("it is paid", within: .seconds(20)) {
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
    }

    @Test("An advertisement from nowhere on the simulated air, or from too far, is not heard")
    func nowhere() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("payer", at: "0,0")
        let radio = try device.radioPath()
        let distances = [1e200, 1.7e308, -1e308, .nan, .infinity, 50_000, 1]
        let beacons = distances.map { Beacon(to: radio, count: 1, at: $0) }
        defer { for beacon in beacons { beacon.stop() } }
        try await eventually("the one at a metre is heard again and again") {
            let heard = try await device.get("/v1/sessions", as: PresencesReply.self).sessions
            #expect(heard.count <= 1)
            return heard.contains { $0.rateHz > 2 } ? true : nil
        }
    }
}

/// Advertises made-up EIDs to one radio of the simulated air, each three times a second.
private struct Beacon {
    private let thread: Thread

    init(to path: String, count: Int, at distance: Double) {
        let eids = (0..<count).map { _ in EID.random() }
        thread = Thread {
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let place = [distance, 0].flatMap { number in
                (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> (8 * $0)) }
            }
            while !Thread.current.isCancelled {
                for eid in eids {
                    let datagram = place + eid.serviceData
                    withUnsafePointer(to: address) { pointer in
                        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            _ = sendto(
                                descriptor,
                                datagram,
                                datagram.count,
                                Int32(MSG_DONTWAIT),
                                $0,
                                socklen_t(MemoryLayout<sockaddr_un>.size)
                            )
                        }
                    }
                    Thread.sleep(forTimeInterval: 0.3 / Double(count))
                }
            }
        }
        thread.start()
    }

    func stop() { thread.cancel() }
}
