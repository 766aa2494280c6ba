import Foundation
import GotchuAPI
import GotchuCore
import Pages
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the pages of contests in a browser without scripts.
@Suite("The pages of contests")
struct ContestPageTests {
    private let english = ContestSections(language: .english, zone: .local(at: .now))

    private func shown(_ data: JSONValue, type: String = "pit_stops") -> String {
        english.panel(ContestSection(type: type, data: data)).source
    }

    @Test("A section of an unknown type is shown as rows and values, and its text is escaped")
    func unknownSection() {
        let text = shown(
            .object([
                "rows": .array([
                    .object(["label": .string("<b>Fuel</b>"), "value": .integer(7)])
                ]),
                "lap_record": .string("1:31.4"), "is_wet": .boolean(true),
                "purse": .string("$5.00"), "purse_cents": .integer(500),
                "track_id": .string("01999f00-0000-7000-8000-000000000001"),
            ])
        )
        #expect(text.contains("<bdi>Pit stops</bdi>"))
        #expect(text.contains("<dt><bdi>&lt;b&gt;Fuel&lt;/b&gt;</bdi></dt><dd>7</dd>"))
        #expect(text.contains("<dt>Lap record</dt><dd><bdi>1:31.4</bdi></dd>"))
        #expect(text.contains("<dt>Is wet</dt><dd>yes</dd>"))
        #expect(!text.contains("500") && !text.contains("01999f00"))
        let table = shown(
            .array([
                .object(["driver": .string("A"), "laps": .integer(3)]),
                .object(["driver": .string("B"), "pit": .object(["a": .null])]),
            ])
        )
        #expect(table.contains("Driver") && table.contains(">3</td>") && !table.contains("Pit<"))
    }

    @Test(
        "A section without displayable content says that it cannot be shown",
        arguments: [
            JSONValue.null, .otherNumber(0.5), .object([:]), .array([]), .array([.null]),
            .object([
                "a": .object(["a": .object(["a": .object(["a": .object(["a": .integer(1)])])])])
            ]),
        ]
    )
    func nothingToShow(data: JSONValue) {
        #expect(shown(data).contains("This part cannot be shown here."))
    }

    @Test("Durations are shown as hours, minutes, seconds and milliseconds")
    func columns() {
        #expect(ContestResults.clock(2_290) == "0:02.290")
        #expect(ContestResults.clock(3_723_450) == "1:02:03.450")
        #expect(ContestResults.clock(-61_000) == "\u{2212}1:01.000")
        #expect(ContestResults.clock(.min).hasPrefix("\u{2212}"))
    }

    @Test("The sources of the pages do not name the contest types race, quiz and picks")
    func types() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources").standardizedFileURL
        for path in [
            "GotchuServer/Web", "GotchuServer/Contests", "GotchuAPI/Contests", "Pages/Words",
        ] {
            let files = try FileManager.default.contentsOfDirectory(
                at: folder.appendingPathComponent(path),
                includingPropertiesForKeys: nil
            )
            #expect(files.count > 5)
            for file in files {
                let text = try String(contentsOf: file, encoding: .utf8)
                for type in ["race", "quiz", "picks"] {
                    #expect(!text.contains("\"\(type)\""), "\(file.lastPathComponent): \(type)")
                }
            }
        }
    }

    @Test(
        "A form sent twice enters a contest once, and a form with an outdated fee is refused"
    )
    func entering() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let id = try await rig.published()
        let path = "/contests/\(id)"
        let anybody = Browser(rig.server)
        let list = try await anybody.open("/contests")
        #expect(list.status == 200 && list.text.contains("Pub &lt;quiz&gt;"), "\(list.text)")
        let page = try await anybody.open(path)
        #expect(page.status == 200 && page.text.contains("/web/login?to=\(path)"))
        #expect(!page.text.contains("action=\"\(path)/join\""))
        let runner = try await Browser.loggedIn("runner@shop.example", at: rig.server, for: path)
        let own = try await runner.open(path)
        let fields = try own.fields(beside: "entry_fee_cents")
        #expect(own.text.contains("Join for $5.00</button>"))
        let wrong = fields.merging(["entry_fee_cents": "400", "key": "contest-page-key-01"]) { $1 }
        let changed = try await runner.send("\(path)/join", wrong, from: own)
        #expect(changed.status == 409, "\(changed.text)")
        for _ in 0..<2 {
            let sent = try await runner.send("\(path)/join", fields, from: own)
            #expect(sent.status == 303 && sent.location == path, "\(sent.text)")
        }
        let entered = try await runner.open(path)
        #expect(entered.text.contains("You are in: entry 1"))
        let token = try await rig.wire.login("runner")
        #expect(try await rig.wire.balance(token) == 9_500)
        // The login from a contest's page does not give access to the organiser's pages.
        #expect(try await runner.open("/web/contests").location == "/web/login?to=/web/contests")
        try await rig.verify()
    }

    @Test(
        "Only the organiser can open the organiser's page, and an old form overwrites no scores"
    )
    func organizing() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let id = try await rig.published()
        let users = try await rig.users(2)
        for user in users { #expect(try await rig.join(id, by: user).status == 200) }
        try await rig.post(id, "lock")
        let path = "/web/contests/\(id)"
        let other = try await Browser.loggedIn("other@shop.example", at: rig.server)
        #expect(try await other.open(path).status == 404)
        let host = try await Browser.loggedIn("organizer@shop.example", at: rig.server)
        let page = try await host.open(path)
        let stolen = try await other.send(
            "\(path)/cancel",
            ["key": "contest-page-key-02", "reason": "Mine."],
            from: try await other.open("/web/earnings")
        )
        #expect(stolen.status == 404)
        var fields = try page.fields(beside: "base_revision")
        fields["score.1"] = "7"
        fields["score.1.seconds"] = "30"
        fields["score.2"] = ""
        for _ in 0..<2 {
            let sent = try await host.send("\(path)/scores", fields, from: page)
            #expect(sent.status == 303, "\(sent.text)")
        }
        #expect(try await rig.show(id).integer("revision") == 1)
        fields["score.2"] = "9"
        let late = try await host.send("\(path)/scores", fields, from: page)
        #expect(late.status == 409 && late.text.contains("other scores"), "\(late.text)")
        for (lines, words) in [
            ("entry_number;points\n2;x", "not a whole number"),
            ("entry_number,points\n2", "has 1 columns"), ("points\n2", "must be: entry"),
            ("entry_number,points\n77,1", "has no entry 77"),
        ] {
            let bad = ["base_revision": "1", "csv": lines]
            let sent = try await host.send("\(path)/scores", bad, from: page)
            #expect(sent.status == 400 && sent.text.contains(words), "\(sent.text)")
        }
        let pasted = ["base_revision": "1", "csv": "entry_number\tpoints\tseconds\n2\t9\t12\n"]
        #expect(try await host.send("\(path)/scores", pasted, from: page).status == 303)
        let scored = try await host.open(path)
        #expect(scored.text.contains("Prizes, if it ended now"))
        #expect(scored.text.contains("name=\"score.2.seconds\" value=\"12\""), "\(scored.text)")
    }

    @Test("A form of scores stores only the rows that were edited")
    func untouchedScores() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let id = try await rig.published()
        for user in try await rig.users(2) { _ = try await rig.join(id, by: user) }
        try await rig.post(id, "lock")
        let scores = """
            {"base_revision":0,"scores":[\
            {"entry_number":1,"points":7,"values":{"seconds":12}},\
            {"entry_number":2,"points":8,"values":{"seconds":30}}]}
            """
        #expect(try await rig.post(id, "scores", scores).status == 200)
        let host = try await Browser.loggedIn("organizer@shop.example", at: rig.server)
        let path = "/web/contests/\(id)"
        let page = try await host.open(path)
        var fields = try page.fields(beside: "base_revision")
        fields["score.1"] = "7"
        fields["score.1.seconds"] = " 12 "
        fields["score.2"] = "9"
        fields["score.2.seconds"] = "30.5"
        let refused = try await host.send("\(path)/scores", fields, from: page)
        #expect(refused.status == 400 && refused.text.contains("seconds must be a whole number"))
        fields["score.2.seconds"] = "30"
        #expect(try await host.send("\(path)/scores", fields, from: page).status == 303)
        let stored = try rig.database.rows(
            1,
            "SELECT body FROM records WHERE kind = 'contest-scores' ORDER BY created_at"
        )
        let last = try #require(stored.last?.first)
        #expect(stored.count == 2 && !last.contains(#""entry":1"#), "\(last)")
        #expect(last.contains(#""points":9"#) && last.contains(#""seconds":30"#), "\(last)")
    }

    @Test(
        "A login older than 15 minutes can neither cancel, settle nor immediately pay out a contest"
    )
    func fresh() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let host = try await Browser.loggedIn("organizer@shop.example", at: rig.server)
        let scores = #"{"base_revision":0,"scores":[{"entry_number":1,"points":7}]}"#
        var ids: [String] = []
        for review in [0, 3_600] {
            let id = try await rig.published(ContestRig.body(review: review))
            for user in try await rig.users(2) { _ = try await rig.join(id, by: user) }
            try await rig.post(id, "lock")
            #expect(try await rig.post(id, "scores", scores).status == 200)
            ids.append(id)
        }
        try rig.database.damage(
            "UPDATE web_sessions SET authenticated_at = authenticated_at - 900001"
        )
        func press(_ act: String, _ id: String) async throws -> BrowserPage {
            let page = try await host.open("/web/contests/\(id)")
            let fields = ["key": ContestRig.key(), "reason": "Rain.", "revision": "1"]
            return try await host.send("/web/contests/\(id)/\(act)", fields, from: page)
        }
        for (act, id) in [("complete", ids[0]), ("cancel", ids[0]), ("settle", ids[1])] {
            let sent = try await press(act, id)
            #expect(sent.status == 403 && sent.text.contains("Nothing was done"), "\(sent.text)")
        }
        let page = try await host.open("/web/contests/\(ids[0])")
        #expect(!page.text.contains("/\(ids[0])/complete\""), "\(page.text)")
        #expect(try await press("complete", ids[1]).status == 303)
        #expect(try await rig.show(ids[0]).string("state") == "LIVE")
        #expect(try await rig.show(ids[1]).string("state") == "COMPLETE")
    }

    @Test("A number in the form for a contest that is too large is refused and does not wrap")
    func largeNumbers() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let host = try await Browser.loggedIn("organizer@shop.example", at: rig.server)
        let page = try await host.open("/web/contests")
        let time = String(Timestamp.now.advanced(by: .seconds(172_800)).iso8601.prefix(16))
        let valid = [
            "template": ContestRig.quiz, "title": "Quiz", "description": "Ten rounds.",
            "fee": "5", "starts": time, "locks": time, "tiers": "1 100", "rake": "0",
            "prize": "0", "review": "0",
        ]
        let (most, cents) = ("9223372036854775807", "92233720368547758.07")
        // As seconds, the second number would wrap to 44.
        for (field, text) in [
            ("review", most), ("review", "307445734561825861"), ("most", most), ("fee", cents),
            ("rake", cents), ("prize", cents), ("tiers", "1 \(cents)"),
            ("tiers", "1 \(cents)\n2 \(cents)\n3 0.02"), ("tiers", "1-\(most) 100"),
        ] {
            let fields = valid.merging([field: text, "key": ContestRig.key()]) { $1 }
            let sent = try await host.send("/web/contests", fields, from: page)
            #expect(sent.status == 400, "\(field) \(text): \(sent.status) \(sent.text)")
            #expect(sent.text.contains("Nothing was made."), "\(field) \(text)")
        }
        let fields = valid.merging(["key": ContestRig.key()]) { $1 }
        #expect(try await host.send("/web/contests", fields, from: page).status == 303)
    }

    @Test("A server without --contests has no pages of contests")
    func absent() async throws {
        let server = try await ServerProcess(more: Browser.arguments)
        let browser = try await Browser.loggedIn("ada@cafe.example", at: server)
        for path in ["/contests", "/contests/01999f00-0000-7000-8000-000000000001"] {
            #expect(try await browser.open(path).status == 404, "\(path)")
        }
        #expect(try await browser.open("/web/contests").status == 404)
    }
}
