import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

/// The till's port: its permissions and the report of the day.
@Suite("The till's port")
struct TillTests {
    private func till(_ shop: Shop) async throws -> TillPort {
        let port = try await TillPort.start(Device(name: "kiosk", shop: shop), of: shop)
        try await port.device.logIn()
        return port
    }

    /// Makes a till's request and pays it.
    private func sale(_ cents: Int64, memo: String, at till: TillPort, by payer: Device)
        async throws
        -> RequestView
    {
        let body = String(
            decoding: try JSONEncoder().encode(NewRequest(amountCents: cents, memo: memo)),
            as: UTF8.self
        )
        let request = try await till.post("/v1/requests", body, as: RequestView.self)
        let wish = NewPayment(eid: request.eid, confirmAmountCents: cents)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        return request
    }

    @Test(
        "Calls for requests, refunds, events and reports need a token of one of this daemon's tills"
    )
    func bearer() async throws {
        let shop = try await Shop()
        let port = try await till(shop)
        let page = try await port.call("GET", "/till")
        #expect(page.status == 200 && page.text.contains("Corner &lt;Cafe&gt;"))
        let calls = [
            ("GET", "/v1/till"), ("GET", "/v1/requests"), ("GET", "/v1/requests/a"),
            ("POST", "/v1/requests"), ("DELETE", "/v1/requests/a"), ("POST", "/v1/refunds"),
            ("GET", "/v1/events"), ("GET", "/v1/report"),
            ("GET", "/v1/report.csv"), ("POST", "/v1/requests/a/refresh"),
        ]
        let other = try await TillPort.start(Device(name: "other", shop: shop), of: shop)
        let foreign = try #require(try await other.paired("Front").token)
        for token in [nil, "", "x", foreign] {
            var caller = port
            caller.token = token
            for (method, path) in calls {
                let body = method == "POST" ? #"{"amount_cents": 1}"# : nil
                #expect(try await caller.problem(method, path, body) == .unauthorized, "\(path)")
            }
        }
        // Routes that a till's page does not need do not exist on its port.
        let paired = try await port.paired("Front")
        for path in ["/v1/payments", "/v1/wallet", "/v1/status", "/v1/sessions", "/v1/pairings/1"] {
            let (status, _) = try await paired.call("GET", path)
            #expect(status == 404 || status == 405, "\(path)")
        }
        let (status, _) = try await paired.call("GET", "/v1/till")
        #expect(status == 200)
    }

    @Test("A revoked till is refused, and its event stream ends")
    func revoked() async throws {
        let shop = try await Shop()
        let port = try await till(shop).paired("Front till: ü")
        let token = try #require(port.token)
        let stream = try Program(
            "/usr/bin/curl",
            [
                "--silent", "--no-buffer", "--max-time", "50", "--header",
                "Authorization: Bearer \(token)", port.origin + "/v1/events",
            ]
        )
        _ = try await eventually("the stream begins") {
            stream.text.contains(#"{"event":"snapshot""#) ? true : nil
        }
        let began = ContinuousClock.now
        #expect(try await port.ctl(["till", "revoke", "Front till: ü"]).code == 0)
        // The daemon ends the stream cleanly, before curl's time limit of 50 s.
        #expect(try await stream.exitCode(within: .seconds(20)) == 0)
        #expect(began.duration(to: .now) < .seconds(20))
        #expect(try await port.problem("GET", "/v1/till") == .unauthorized)
        let list = try await port.ctl(["till", "list"])
        #expect(list.code == 0 && list.text.contains("No till is paired."))
        #expect(try await port.ctl(["till", "revoke", "Front till: ü"]).code == 1)
    }

    @Test("A code does not pair a till if it is wrong or used, or if the name is taken")
    func pairing() async throws {
        let shop = try await Shop()
        let port = try await till(shop)
        let offer = try await port.post("/v1/pairings", "{}", as: PairingOffer.self)
        let ticket = #"{"ticket": "\#(offer.ticket)"}"#
        let wrong = offer.code == "000000" ? "000001" : "000000"
        let missed = try await port.ctl(["till", "pair", wrong, "--name", "Front"])
        #expect(missed.code == 1 && missed.text.contains("No till's page shows this code"))
        #expect(try await port.ctl(["till", "pair", "12345", "--name", "Front"]).code == 65)
        let waiting = try await port.post("/v1/pairings/outcome", ticket, as: PairingOutcome.self)
        #expect(waiting.state == .waiting && waiting.token == nil)
        let spaced = "\(offer.code.prefix(3)) \(offer.code.suffix(3))"
        #expect(try await port.ctl(["till", "pair", spaced, "--name", "Front"]).code == 0)
        #expect(try await port.ctl(["till", "pair", offer.code, "--name", "Back"]).code == 1)
        let paired = try await port.post("/v1/pairings/outcome", ticket, as: PairingOutcome.self)
        #expect(paired.state == .paired && paired.token?.utf8.count == 43)
        let again = try await port.post("/v1/pairings/outcome", ticket, as: PairingOutcome.self)
        #expect(again.state == .expired && again.token == nil)
        let other = try await port.post("/v1/pairings", "{}", as: PairingOffer.self)
        let taken = try await port.ctl(["till", "pair", other.code, "--name", "Front"])
        #expect(taken.code != 0 && taken.text.contains("There is a till Front already."))
    }

    @Test("Calls with the same key make one request, and an invalid memo is refused")
    func once() async throws {
        let shop = try await Shop()
        let port = try await till(shop).paired("Front")
        let key = UUID().uuidString
        let body = #"{"amount_cents": 1280, "memo": "<b>Tea</b>"}"#
        var ids: Set<SessionID> = []
        for _ in 0..<3 {
            ids.insert(try await port.post("/v1/requests", body, key: key, as: RequestView.self).id)
        }
        #expect(ids.count == 1)
        let all = try await port.device.get("/v1/requests", as: RequestsReply.self).requests
        #expect(all.map(\.amountCents) == [1280] && all.first?.memo == "<b>Tea</b>")
        let turned = #"{"amount_cents": 1, "memo": "\u202e"}"#
        #expect(try await port.problem("POST", "/v1/requests", turned) == .validationError)
    }

    @Test("A till with a daily limit refunds up to it, and a till without a limit refunds nothing")
    func refunds() async throws {
        let shop = try await Shop()
        let port = try await till(shop)
        let payer = try await shop.daemon("payer", at: "1,0")
        try await payer.logIn()
        let front = try await port.paired("Front", refunds: "10.00/day")
        let back = try await port.paired("Back")
        let first = try await sale(800, memo: "Cake", at: front, by: payer)
        let second = try await sale(800, memo: "Tea", at: back, by: payer)
        func body(_ request: RequestView, _ cents: Int64) -> String {
            #"{"sid": "\#(request.id)", "amount_cents": \#(cents)}"#
        }
        #expect(try await back.problem("POST", "/v1/refunds", body(second, 1)) == .notPermitted)
        let all = #"{"sid": "\#(second.id)"}"#
        #expect(try await front.problem("POST", "/v1/refunds", all) == .validationError)
        for _ in 0..<2 {
            // The second call asks for the same refund, which counts only once.
            let made = try await front.post(
                "/v1/refunds",
                body(first, 800),
                as: PaymentView.self
            )
            #expect(try await end(of: made, on: port.device).state == .paid)
        }
        #expect(
            try await front.problem("POST", "/v1/refunds", body(second, 201)) == .refundTooLarge
        )
        let rest = try await front.post("/v1/refunds", body(second, 200), as: PaymentView.self)
        #expect(try await end(of: rest, on: port.device).state == .paid)
        #expect(try await front.problem("POST", "/v1/refunds", body(second, 1)) == .refundTooLarge)
        #expect(try await payer.balance() == 10_000 - 1600 + 1000)
        let list = try await port.ctl(["till", "list"])
        #expect(list.text.contains("refunds up to $10.00 a day ($10.00 today)"), "\(list.text)")
    }

    @Test("A till learns of a refund made elsewhere when it refreshes the request")
    func refundedElsewhere() async throws {
        let shop = try await Shop()
        let port = try await till(shop).paired("Front")
        let payer = try await shop.daemon("payer", at: "1,0")
        try await payer.logIn()
        let request = try await sale(800, memo: "Cake", at: port, by: payer)
        let path = "/v1/requests/\(request.id)/refresh"
        let before = try await port.post(path, "{}", as: RequestView.self)
        #expect(before.state == .paid && before.refundedCents == nil)
        // A second daemon of the merchant has the same login and its own journal.
        let other = try await shop.daemon("merchant", at: "5,0")
        let login = LocalLogin(devEmail: "\(port.device.name)@example.com")
        let _: StatusReply = try await other.call("POST", "/v1/login", login)
        let wish = NewRefund(sid: request.id, amountCents: 300)
        let made: PaymentView = try await other.call("POST", "/v1/refunds", wish)
        #expect(try await end(of: made, on: other).state == .paid)
        let after = try await port.post(path, "{}", as: RequestView.self)
        #expect(after.state == .paid && after.refundedCents == 300)
        let listed = try await port.device.get("/v1/requests", as: RequestsReply.self).requests
        #expect(listed.map(\.refundedCents) == [300])
    }

    @Test("The day's report agrees with the ledger, at the till's port and in the shell")
    func report() async throws {
        let shop = try await Shop()
        let port = try await till(shop).paired("Front", refunds: "50.00/day")
        let payer = try await shop.daemon("payer", at: "1,0")
        try await payer.logIn()
        let first = try await sale(1280, memo: "=1+1", at: port, by: payer)
        _ = try await sale(450, memo: "Tea", at: port, by: payer)
        let refund = #"{"sid": "\#(first.id)", "amount_cents": 280}"#
        let made = try await port.post("/v1/refunds", refund, as: PaymentView.self)
        #expect(try await end(of: made, on: port.device).state == .paid)

        let (status, text) = try await port.call("GET", "/v1/report")
        #expect(status == 200, "\(text)")
        let report = try JSONDecoder().decode(ReportReply.self, from: Data(text.utf8))
        #expect(report.counts.paymentCount == 2 && report.counts.takenCents == 1730)
        #expect(report.counts.refundedCents == 280 && report.keptCents == 1450)
        #expect(try await port.device.balance() == 10_000 + report.keptCents)
        #expect(report.unknown.isEmpty)
        let shown = try await port.ctl(["report"])
        #expect(shown.code == 0 && shown.text.contains("$14.50"), "\(shown.text)")
        let json = try await port.ctl(["--json", "report"])
        #expect(
            try JSONDecoder().decode(ReportReply.self, from: Data(json.text.utf8)).keptCents == 1450
        )

        for path in [
            "/v1/report?day=2026-02-30", "/v1/report?zone=../x", "/v1/report?zone=No/Where",
        ] {
            #expect(try await port.problem("GET", path) == .validationError, "\(path)")
        }
        shop.server.signal(SIGTERM)
        let away = try await port.problem("GET", "/v1/report")
        #expect(away == .serverUnreachable)
        let dark = try await port.ctl(["report"])
        #expect(dark.code != 0 && !dark.text.contains("Day"), "\(dark.text)")
    }

    @Test("The shell shows the ledger's earnings by hour and by entry, with their payout states")
    func earnings() async throws {
        let shop = try await Shop()
        let port = try await till(shop).paired("Front", refunds: "50.00/day")
        let payer = try await shop.daemon("payer", at: "1,0")
        try await payer.logIn()
        let first = try await sale(1280, memo: "Flat white", at: port, by: payer)
        for number in 1...3 { _ = try await sale(100, memo: "Tea \(number)", at: port, by: payer) }
        let refund = #"{"sid": "\#(first.id)", "amount_cents": 280}"#
        let made = try await port.post("/v1/refunds", refund, as: PaymentView.self)
        #expect(try await end(of: made, on: port.device).state == .paid)

        let run = try await port.ctl(["earnings", "--period", "today", "--zone", "Asia/Tokyo"])
        #expect(run.code == 0 && run.text.hasPrefix("Earned $13.00 · "), "\(run.text)")
        #expect(run.text.contains("HOUR") && run.text.contains(" · Asia/Tokyo\n"))
        #expect(run.text.contains("\nPending $13.00 · processing $0.00 · paid $0.00\n"))
        let json = try await port.ctl(["earnings", "--json"])
        let sums = try JSONDecoder().decode(EarningsReply.self, from: Data(json.text.utf8))
        #expect(sums.period == .month && sums.totalCents.value == 1300)
        #expect(sums.counts?.paymentCount == 4 && sums.counts?.refundedCents == 280)
        #expect(sums.parts?.last?.counts == sums.counts)
        let dates = ["--from", sums.to ?? "", "--to", sums.to ?? ""]
        let day = try await port.ctl(["earnings", "show"] + dates)
        #expect(day.code == 0 && day.text.contains("HOUR"), "\(day.text)")

        let list = try await port.ctl(["earnings", "history"])
        let lines = list.text.split(separator: "\n").dropFirst()
        #expect(list.code == 0 && lines.count == 5, "\(list.text)")
        #expect(lines.allSatisfy { $0.contains("  pending  ") })
        #expect(lines.first?.contains("-$2.80") == true && lines.first?.contains("refund") == true)
        // The command reads pages until it has enough entries.
        let two = try await port.ctl(["earnings", "history", "--limit", "2", "--json"])
        let newest = try JSONDecoder().decode(
            EarningsHistoryReply.self,
            from: Data(two.text.utf8)
        )
        #expect(newest.entries.map(\.amountCents.value) == [280, 100] && newest.nextCursor != nil)
        let past = ["--from", "2001-01-01", "--to", "2001-01-02"]
        #expect(try await port.ctl(["earnings", "history"] + past).text.contains("Nothing was"))
        for wrong in [
            ["--period", "custom"], ["--from", "2026-11-01"], ["--zone", "../x"],
            ["--period", "week"] + past, ["--from", "2026-11-02", "--to", "2026-11-01"],
        ] {
            #expect(try await port.ctl(["earnings"] + wrong).code == 64, "\(wrong)")
        }
        #expect(try await port.ctl(["earnings", "--zone", "No/Where"]).code == 65)
        // A till's page cannot read earnings.
        #expect(try await port.call("GET", "/v1/earnings").status == 404)
    }

    @Test("Python can read a day's CSV table, and the hours sum to the day")
    func csv() async throws {
        let shop = try await Shop()
        let port = try await till(shop).paired("Front")
        let payer = try await shop.daemon("payer", at: "1,0")
        try await payer.logIn()
        _ = try await sale(1_234, memo: "Tea", at: port, by: payer)
        let run = try await port.ctl(["report", "--csv", "--zone", "Europe/Berlin"])
        #expect(run.code == 0)
        let (_, page) = try await port.call("GET", "/v1/report.csv?zone=Europe/Berlin")
        #expect(page == run.text && page.unicodeScalars.first == "\u{FEFF}")
        let file = try shop.folder.write(run.text, to: "day.csv")
        let script = """
            import csv, sys
            rows = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8-sig')))
            hours = [row for row in rows if row['row'] == 'hour']
            day = [row for row in rows if row['row'] == 'day'][0]
            assert len(hours) in (23, 24, 25), len(hours)
            for name in ('payments', 'taken_cents', 'refunds', 'refunded_cents', 'kept_cents'):
                assert sum(int(row[name]) for row in hours) == int(day[name]), name
            assert None not in day and all(None not in row.values() for row in rows)
            print(day['payments'], day['taken_cents'], day['taken'], day['currency'])
            """
        let python = try Program("/usr/bin/python3", ["-c", script, file])
        #expect(try await python.exitCode() == 0, "\(python.text)")
        #expect(python.text == "1 1234 12.34 usd\n")
    }
}
