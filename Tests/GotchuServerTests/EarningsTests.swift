import Foundation
import GotchuAPI
import GotchuCore
import SQLite
import TestSupport
import Testing

/// Tests of reports on earnings by calendar days.
@Suite("Earnings")
struct EarningsTests {
    private let path = "/api/payments/earnings"

    private func read(_ reply: WireReply) throws -> EarningsReply {
        try #require(reply.status == 200, "\(reply.text)")
        return try JSONDecoder().decode(EarningsReply.self, from: reply.bytes)
    }

    @Test(
        "Earnings are the payments minus the refunds of the caller's own wallet",
        arguments: DatabaseKind.all
    )
    func live(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        for cents in [450, 1280, 890] {
            let sid = try await wire.lockedSession(payee, payer, cents: cents)
            _ = try await wire.send(sid, by: payer, key: "pay-for-\(sid)")
            guard cents == 1280 else { continue }
            _ = try await wire.post(
                "/sessions/\(sid)/refund",
                #"{"amount_cents":280}"#,
                token: payee,
                key: "refund-of-\(sid)"
            )
        }
        let own = try read(try await wire.get(path + "?period=today&by=hour", token: payee))
        #expect(own.counts?.paymentCount == 3 && own.counts?.takenCents == 2620)
        #expect(own.counts?.refundCount == 1 && own.counts?.refundedCents == 280)
        #expect(own.totalCents.value == 2340 && own.allTimeCents.value == 2340)
        #expect(own.parts?.count == 24)
        #expect(own.parts?.map(\.counts.takenCents).reduce(0, +) == 2620)
        let other = try read(try await wire.get(path + "?period=month&by=day", token: payer))
        #expect(other.counts == EarningsCounts() && other.allTimeCents.value == 0)
        let all = try read(try await wire.get(path + "?period=all&zone=Asia/Tokyo", token: payee))
        #expect(all.totalCents.value == 2340 && all.counts == nil && all.from == nil)
    }

    @Test("Earnings of another user, a bad period, date or zone, or above 400 days are refused")
    func refused() async throws {
        let server = try await ServerProcess()
        let payee = try await server.wire.login("payee")
        for query in [
            "?period=year", "?period=custom", "?from=2026-11-21", "?from=2026-11-22&to=2026-11-21",
            "?period=today&from=2026-11-21&to=2026-11-21", "?from=2026-02-29&to=2026-03-01",
            "?from=2025-01-01&to=2026-02-05", "?from=2026-01-01&to=2026-02-01&by=hour",
            "?period=all&by=day", "?by=minute", "?zone=Europe/Atlantis", "?zone=../../etc/passwd",
            "?zone=tzdata.zi", "?zone=Europe", "?limit=3", "?from=1999-12-31&to=2000-01-01",
        ] {
            let reply = try await server.wire.get(path + query, token: payee)
            #expect(reply.status == 400 && reply.string("code") == "VALIDATION_ERROR", "\(query)")
        }
        #expect(try await server.wire.get(path + "?user=x", token: payee).status == 403)
        #expect(try await server.wire.get(path).status == 401)
        let longest = path + "?from=2025-01-01&to=2026-02-04&by=day&zone=America/New_York"
        #expect(try read(try await server.wire.get(longest, token: payee)).parts?.count == 400)
    }

    /// Plants entries every seven minutes for almost ten days around a clock change in Berlin. The
    /// report of each hour of the day is compared with the sums of the entries.
    @Test(
        "On days of 23 and 25 hours, each entry is counted in its own hour",
        arguments: ["2026-03-29", "2026-10-25"]
    )
    func clockChange(text: String) async throws {
        let first = try await ServerProcess()
        let login = try await first.wire.post("/auth/dev-login", #"{"email":"payee@shop.example"}"#)
        let (user, token) = (login.string("user_id"), login.string("token"))
        #expect(try await first.stop() == 0)
        let day = try #require(CalendarDay(text))
        let midnight = try #require(Timestamp(iso8601: text + "T00:00:00Z")).milliseconds
        var entries: [PlantedEntry] = []
        for index in Int64(0)..<2000 {
            let at = midnight - 5 * 86_400_000 + index * 420_000
            entries.append(PlantedEntry(at: at, amount: index + 1, isRefund: index % 5 == 4))
        }
        try plant(entries, for: user, in: first.path)

        let server = try await ServerProcess(folder: first.folder)
        let query = "?from=\(text)&to=\(text)&by=hour&zone=Europe/Berlin"
        let report = try read(try await server.wire.get(path + query, token: token))
        let parts = try #require(report.parts)
        #expect(parts.count == (text.hasSuffix("29") ? 23 : 25))
        #expect(parts.first?.localTime.hasPrefix("\(text)T00:00:00+0") == true)
        for part in parts {
            let span = part.startsAt.value.milliseconds..<part.endsAt.value.milliseconds
            let own = entries.filter { span.contains($0.at) }
            let (payments, refunds) = (own.filter { !$0.isRefund }, own.filter(\.isRefund))
            #expect(part.counts.paymentCount == Int64(payments.count))
            #expect(part.counts.refundCount == Int64(refunds.count))
            #expect(part.counts.takenCents == payments.map(\.amount).reduce(0, +))
            #expect(part.counts.refundedCents == refunds.map(\.amount).reduce(0, +))
        }
        #expect(report.counts?.takenCents == parts.map(\.counts.takenCents).reduce(0, +))
        #expect(report.totalCents.value == parts.map(\.counts.keptCents).reduce(0, +))

        let (from, to) = (day.advanced(by: -5), day.advanced(by: 5))
        let days = "?from=\(from)&to=\(to)&by=day&zone=Europe/Berlin"
        let whole = try read(try await server.wire.get(path + days, token: token))
        #expect(whole.parts?.count == 11)
        #expect(whole.totalCents == whole.allTimeCents)
        #expect(whole.parts?[5].counts == report.counts)
    }

    @Test("The history lists each sale once while new sales are made, with its payout state")
    func history() async throws {
        let server = try await ServerProcess(opening: 0)
        let wire = server.wire
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        _ = try await wire.post(
            "/api/payments/intents",
            #"{"amount_cents":5000}"#,
            token: payer,
            key: "history-deposit-key"
        )
        func sell(_ cents: Int) async throws {
            let sid = try await wire.lockedSession(payee, payer, cents: cents)
            #expect(try await wire.send(sid, by: payer, key: "pay-for-\(sid)").status == 200)
        }
        for cents in [100, 200, 300, 400, 500] { try await sell(cents) }
        let out = try await wire.post(
            "/api/wallet/withdrawals",
            #"{"amount_cents":300}"#,
            token: payee,
            key: "history-payout-key"
        )
        #expect(out.string("status") == "paid", "\(out.text)")
        var rows: [[String: Any]] = []
        var cursor: String?
        var pages = 0
        repeat {
            let query = "?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try await wire.get(path + "/history" + query, token: payee)
            #expect(page.status == 200, "\(page.text)")
            rows += page.members["entries"] as? [[String: Any]] ?? []
            cursor = page.members["next_cursor"] as? String
            pages += 1
            // A new sale comes first in the list and does not shift the pages after the cursor.
            if pages < 4 { try await sell(10) }
        } while cursor != nil && pages < 20
        #expect(pages >= 3)
        #expect(Set(rows.compactMap { $0["id"] as? String }).count == 5)
        let amounts = rows.compactMap { $0["amount_cents"] as? Int }
        #expect(amounts == [500, 400, 300, 200, 100])
        // The oldest sales are paid out first: $1.00 and $2.00.
        let states = rows.compactMap { $0["payout_status"] as? String }
        #expect(states == ["pending", "pending", "pending", "paid", "paid"], "\(states)")
        let other = try await wire.get(path + "/history?cursor=x", token: payee)
        #expect(other.status == 400)
    }

    @Test("The merchant's page compares the earnings with those of yesterday and last week")
    func comparison() async throws {
        let first = try await ServerProcess()
        let login = try await first.wire.post("/auth/dev-login", #"{"email":"payee@shop.example"}"#)
        #expect(try await first.stop() == 0)
        let now = Timestamp.now.milliseconds
        let entries = (Int64(0)..<400).map { index in
            let at = now - (400 - index) * 3_600_000
            return PlantedEntry(at: at, amount: index + 1, isRefund: index % 7 == 6)
        }
        try plant(entries, for: login.string("user_id"), in: first.path)
        let server = try await ServerProcess(folder: first.folder, more: Browser.arguments)
        let browser = try await Browser.loggedIn("payee@shop.example", at: server)
        func sum(_ days: Range<CalendarDay>) -> String {
            let bounds = [days.lowerBound, days.upperBound].map {
                Timestamp(iso8601: "\($0)T00:00:00Z")?.milliseconds ?? 0
            }
            let own = entries.filter { bounds[0] <= $0.at && $0.at < bounds[1] }
            return Money(minorUnits: own.map { $0.isRefund ? -$0.amount : $0.amount }.reduce(0, +))
                .description
        }
        // Midnight can pass between the request and the comparison, so a second attempt is allowed.
        var outcomes: [Bool] = []
        repeat {
            let page = try await browser.open("/web/earnings?period=all&zone=UTC").text
            let today = try #require(CalendarDay(String(Timestamp.now.iso8601.prefix(10))))
            let (yesterday, week) = (today.advanced(by: -1), today.monday.advanced(by: -7))
            outcomes.append(
                page.contains("<small>yesterday \(sum(yesterday..<today))</small>")
                    && page.contains("<small>last week \(sum(week..<today.monday))</small>")
                    && page.contains("<small>this month ")
            )
        } while outcomes == [false]
        #expect(outcomes.contains(true))
    }

    private struct PlantedEntry {
        let at: Int64
        let amount: Int64
        let isRefund: Bool
    }

    private func plant(
        _ entries: [PlantedEntry],
        for user: String,
        in path: String
    ) throws {
        let connection = try SQLite.Connection(path: path, mode: .readWrite)
        let triggers = try connection.query(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
            read: { try $0.text(0) }
        )
        for name in triggers { try connection.execute("DROP TRIGGER \(name)") }
        try connection.execute("BEGIN; DELETE FROM entries WHERE owner = '\(user)'")
        var earned: Int64 = 0
        for (index, entry) in entries.enumerated() {
            let amount = entry.isRefund ? -entry.amount : entry.amount
            earned += amount
            try connection.execute(
                """
                INSERT INTO entries VALUES ('\(user)', 'usd', \(index + 1), 'r-\(index)', 's',
                    '\(entry.isRefund ? "REFUND" : "PAYMENT")', \(entry.at), \(amount),
                    \(10_000 + earned), \(earned))
                """
            )
        }
        try connection.execute(
            """
            UPDATE accounts SET entry_count = \(entries.count), earned = \(earned)
                WHERE owner = '\(user)';
            COMMIT
            """
        )
    }
}
