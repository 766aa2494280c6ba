import FoundationEssentials
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuDaemon

/// Replies of a payment server in which each number was replaced by extreme ones.
@Suite("Extreme numbers of a strange payment server")
struct ExtremeReplyTests {
    private let time = Timestamp(milliseconds: 1_795_000_000_000)

    /// Calls `use` with each of the replies that can be decoded.
    private func each<Reply: Codable>(
        like sample: Reply,
        _ use: (Reply) async throws -> Void
    ) async throws {
        var count = 0
        for document in try ExtremeNumbers.documents(from: sample) {
            guard let reply = try? JSONReader.decode(Reply.self, Array(document.utf8)) else {
                continue
            }
            count += 1
            try await use(reply)
        }
        #expect(count > 0)
    }

    @Test("No number of a session ends gotchud or makes a request paid with another sum")
    func sessions() async throws {
        let request = RequestRecord(
            sid: try #require(SessionID(rawValue: ScriptedServer.sid)),
            eid: EID(literal: ScriptedServer.eid),
            server: Bench.server,
            amountCents: 500,
            tipCents: 0,
            currency: .usd,
            memo: nil,
            createdAt: time,
            expiresAt: time,
            state: .advertising
        )
        var sample = SessionReply(
            sid: request.sid,
            status: .paid,
            amountCents: WireInteger(500),
            currency: .usd,
            memo: nil,
            expiresAt: time,
            lockExpiresAt: nil,
            paidAt: time,
            tipCents: WireInteger(100),
            refundedCents: WireInteger(50),
            version: 1
        )
        var withoutTip = request
        withoutTip.tipCents = nil
        #expect(sample.wrongMembers(for: request.sid, request).isEmpty)
        #expect(sample.wrongMembers(for: request.sid, withoutTip) == ["tip", "refund"])
        for places in [
            nil,
            Places(kind: Places.split, places: 2, paid: 1, held: 1, paidCents: WireInteger(250)),
        ] {
            sample.kind = places?.kind
            sample.placeCount = places?.places
            sample.placesPaid = places?.paid
            sample.placesHeld = places?.held
            sample.paidCents = places?.paidCents
            try await each(like: sample) { session in
                let bench = try Bench([.request(request)])
                await bench.requests.apply(session, to: request.sid)
                let view = try await bench.requests.view(of: request.sid)
                #expect(view.state == .advertising || view.amountCents == session.amountCents.value)
                #expect(
                    (500...Money.allowedRequest.upperBound).contains(view.amount.total.minorUnits)
                )
                _ = view.progress
            }
        }
    }

    @Test("No number of the earnings ends gotchud, and no count is negative")
    func reports() async throws {
        var counts = EarningsCounts()
        (counts.paymentCount, counts.takenCents) = (3, 3000)
        (counts.refundCount, counts.refundedCents) = (1, 1000)
        let hour = EarningsPart(startsAt: time, endsAt: time, localTime: "", counts: counts)
        let sample = EarningsReply(
            currency: .usd,
            period: .today,
            zone: "UTC",
            from: "2026-11-21",
            to: "2026-11-21",
            asOf: time,
            totalCents: WireInteger(2000),
            counts: counts,
            todayCents: WireInteger(1),
            weekCents: WireInteger(2),
            monthCents: WireInteger(3),
            allTimeCents: WireInteger(4),
            parts: [hour]
        )
        try await each(like: sample) { earnings in
            let counts = try #require(earnings.counts)
            let report = ReportReply(
                day: earnings.from ?? "",
                zone: earnings.zone,
                currency: earnings.currency,
                asOf: earnings.asOf.value,
                counts: counts,
                hours: earnings.parts ?? [],
                unknown: []
            )
            #expect(counts.paymentCount >= 0 && counts.refundedCents >= 0)
            #expect(report.csv.utf8.count > 100)
        }
    }

    @Test(
        "A reply about another refund decides nothing, and no number of it ends gotchud"
    )
    func refunds() async throws {
        let sample = RefundReply(
            ok: true,
            amountCents: WireInteger(500),
            tipCents: WireInteger(100),
            refundedCents: WireInteger(500),
            newBalanceCents: WireInteger(5000),
            transferID: "t"
        )
        try await each(like: sample) { reply in
            let record = RefundRecord(
                NewRefund(sid: try #require(SessionID(rawValue: "s-1")), amountCents: 500),
                amount: Money(minorUnits: 500),
                attempt: 0,
                user: "ann",
                server: Bench.server
            )
            let isOurs =
                reply.amountCents.value == 500 && (0...500).contains(reply.tipCents?.value ?? 0)
            #expect(record.isAbout(reply) == isOurs)
            _ = record.view(nil).amount
        }
    }
}
