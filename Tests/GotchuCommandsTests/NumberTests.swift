import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Each number of each reply is replaced by extreme ones, and the real program shows the reply.
@Suite("Extreme numbers of a strange gotchud")
struct NumberTests {
    private static let time = Timestamp(milliseconds: 1_795_000_000_000)

    private static var counts: EarningsCounts {
        var counts = EarningsCounts()
        (counts.paymentCount, counts.takenCents) = (3, 3000)
        (counts.refundCount, counts.refundedCents) = (1, 1000)
        return counts
    }

    private static var part: EarningsPart {
        EarningsPart(
            startsAt: time,
            endsAt: time,
            localTime: "2026-11-21T08:00:00+01:00",
            counts: counts
        )
    }

    private static func report(day: String = "2026-11-21", hour: String? = nil) -> ReportReply {
        var hours = [part]
        if let hour { hours[0].localTime = hour }
        return ReportReply(
            day: day,
            zone: "Europe/Berlin",
            currency: .usd,
            asOf: time,
            counts: counts,
            hours: hours,
            unknown: [
                ReportReply.UnknownItem(
                    kind: .refund,
                    id: "a",
                    amountCents: 500,
                    currency: .usd,
                    memo: nil,
                    createdAt: time
                )
            ]
        )
    }

    private static func wallet() -> WalletReply {
        let entry = WalletEntry(
            id: "a",
            type: "SEND_P2P",
            direction: .debit,
            amountCents: WireInteger(500),
            tipCents: WireInteger(100),
            currency: .usd,
            memo: nil,
            createdAt: time
        )
        return WalletReply(
            walletID: "w",
            availableCents: WireInteger(5000),
            currency: .usd,
            recent: [entry]
        )
    }

    private static func earnings() -> EarningsReply {
        var reply = EarningsReply(
            currency: .usd,
            period: .month,
            zone: "UTC",
            from: "2026-11-01",
            to: "2026-11-21",
            asOf: time,
            totalCents: WireInteger(1),
            counts: counts,
            todayCents: WireInteger(1),
            weekCents: WireInteger(2),
            monthCents: WireInteger(3),
            allTimeCents: WireInteger(4),
            parts: [part, part]
        )
        reply.pendingCents = WireInteger(5)
        reply.processingCents = WireInteger(6)
        reply.paidCents = WireInteger(7)
        return reply
    }

    private static func requests() throws -> RequestsReply {
        let request = RequestView(
            id: try #require(SessionID(rawValue: "0123456789abcdef")),
            eid: EID(literal: "a1b2c3d4e5"),
            state: .paid,
            amountCents: 500,
            tipCents: 100,
            refundedCents: 50,
            places: Places(
                kind: Places.split,
                places: 3,
                paid: 1,
                held: 1,
                paidCents: WireInteger(100)
            ),
            currency: .usd,
            memo: nil,
            createdAt: time,
            expiresAt: time,
            paidAt: time,
            isOnAir: false,
            reason: "Paid."
        )
        return RequestsReply(requests: [request])
    }

    private static func payments() throws -> PaymentsReply {
        let sid = try #require(SessionID(rawValue: "0123456789abcdef"))
        let payments = [nil, PaymentView.Kind.refund].map { kind in
            PaymentView(
                id: "p",
                kind: kind,
                state: .paid,
                sid: sid,
                eid: nil,
                amountCents: 500,
                tipCents: 100,
                currency: .usd,
                payee: "Shop",
                createdAt: time,
                updatedAt: time,
                code: nil,
                detail: "Paid.",
                nextStep: nil,
                newBalanceCents: 5,
                transferID: nil
            )
        }
        return PaymentsReply(payments: payments)
    }

    /// Runs a command with each of the documents as the answer to its call number `index`.
    private func show(
        _ command: [String],
        _ documents: [String],
        after others: [String] = [],
        then later: [String] = []
    ) async throws {
        #expect(!documents.isEmpty)
        for document in documents {
            let replies = (others + [document] + later).map {
                CannedPeer.reply("200 OK", body: $0)
            }
            let peer = try CannedPeer(replies)
            let run = try await GotchuCtl.run(command, socket: peer.socket)
            #expect(run.code < 128, "\(command) \(document.prefix(1000)): \(run.code) \(run.err)")
        }
    }

    @Test("No number of a reply ends gotchu-ctl")
    func numbers() async throws {
        try await show(["report"], try ExtremeNumbers.documents(from: Self.report()))
        try await show(["wallet"], try ExtremeNumbers.documents(from: Self.wallet()))
        try await show(["earnings"], try ExtremeNumbers.documents(from: Self.earnings()))
        let requests = String(decoding: try JSONEncoder().encode(Self.requests()), as: UTF8.self)
        try await show(
            ["history"],
            try ExtremeNumbers.documents(from: Self.requests()),
            then: [#"{"payments":[]}"#]
        )
        try await show(
            ["history"],
            try ExtremeNumbers.documents(from: Self.payments()),
            after: [requests]
        )
    }

    @Test("No day or hour of a reply can turn the text on the terminal")
    func turning() async throws {
        for text in ["\u{202E}12", "\u{1B}[31m", "\u{2066}x", "\u{7}", "\u{9B}31m"] {
            var earnings = Self.earnings()
            earnings.from = text
            earnings.parts?[0].localTime = text
            try await expectNoControl(["earnings"], earnings, text)
            try await expectNoControl(["report"], Self.report(day: text), text)
            let hour = Self.report(hour: "2026-11-21T" + text)
            try await expectNoControl(["report"], hour, text)
        }
    }

    private func expectNoControl(
        _ command: [String],
        _ reply: some Encodable,
        _ text: String
    ) async throws {
        let body = String(decoding: try JSONEncoder().encode(reply), as: UTF8.self)
        let peer = try CannedPeer(CannedPeer.reply("200 OK", body: body))
        let run = try await GotchuCtl.run(command, socket: peer.socket)
        let control = try #require(text.unicodeScalars.first)
        #expect(run.code == 0, "\(run.err)")
        #expect(!run.out.unicodeScalars.contains(control), "\(run.out)")
    }
}
