import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("The rendering of contests")
struct ContestRenderingTests {
    private let plain = Terminal(descriptor: -1)

    private func section(_ json: String) throws -> ContestSection {
        try JSONDecoder().decode(ContestSection.self, from: Data(json.utf8))
    }

    private func lines(_ json: String) throws -> [String] {
        try section(json).lines(on: plain)
    }

    @Test("A section with a summary, prizes, scoring or a roster is shown in a form of its own")
    func knownSections() throws {
        let summary = #"""
            {"type":"summary","data":{"entry_fee":"$5.00","prize_pool":"$35.00",
            "entries":"7 of 20"}}
            """#
        #expect(
            try lines(summary) == [
                "Summary", "  Entry fee   $5.00", "  Prize pool  $35.00", "  Entries     7 of 20",
            ]
        )
        let prizes = #"""
            {"type":"payout_table","data":[{"rank":1,"amount":"50%"},
            {"rank":2,"rank_max":3,"amount":"$2.50","payout_percent":"50"}]}
            """#
        #expect(try lines(prizes) == ["Prizes", "  1    50%", "  2-3  $2.50"])
        let scoring = #"""
            {"type":"scoring_overview","data":{"format":"Most win","rounds":3,"tie_breaker":null}}
            """#
        #expect(try lines(scoring) == ["Scoring", "  Most win", "  3 rounds"])
        let roster = #"""
            {"type":"roster_config","data":{"roster_size":1,"positions":["keeper"],"salary_cap":9,
            "lock_time":"2026-12-04T17:55:00Z","players":[]}}
            """#
        #expect(
            try lines(roster) == [
                "Roster", "  Choose 1 of 0 players (keeper), who may cost 9 together.",
            ]
        )
    }

    @Test("A section of an unknown kind or with unknown data shows its rows and scalars")
    func unknownSections() throws {
        let rows = #"""
            {"type":"course_map","title":"Course","data":{"rows":[{"label":"Start","value":"Quay"},
            {"label":"Laps","value":3}]}}
            """#
        #expect(try lines(rows) == ["Course", "  Start  Quay", "  Laps   3"])
        let scalars = #"{"type":"weather","data":{"wind":4,"is_dry":true,"map":{"a":[1]}}}"#
        #expect(try lines(scalars) == ["weather", "  is_dry  yes", "  wind    4"])
        let list = #"{"type":"x","title":"Rules","data":["No phones",{"fine":5,"per":"call"}]}"#
        #expect(try lines(list) == ["Rules", "  No phones", "  fine 5, per call"])
        let other = #"{"type":"summary","data":{"entry_fee":500}}"#
        #expect(try lines(other) == ["Summary", "  entry_fee  500"])
        let none = #"{"type":"map","data":{"tiles":[[1,2]]}}"#
        #expect(try lines(none) == ["map: this part cannot be shown here."])
        let hostile = try lines(#"{"type":"a\u001b[2J","data":{"b\u202e":"c\u0007"}}"#).joined()
        #expect(!hostile.contains("\u{1B}") && !hostile.contains("\u{202E}"))
        #expect(!hostile.contains("\u{07}"))
    }

    @Test("A known action has its command, an unknown action its call, a refused one the reason")
    func actions() throws {
        var detail = try Self.detail()
        detail.actionList = [
            ContestAction(
                id: "join",
                label: "Join for $5.00",
                reason: nil,
                method: .post,
                href: "/j",
                confirm: nil,
                needsKey: true
            ),
            ContestAction(
                id: "cheer",
                label: "Cheer",
                reason: nil,
                method: .post,
                href: "/api/contests/1/cheer",
                confirm: nil,
                needsKey: nil
            ),
            ContestAction(
                id: "leaderboard",
                label: "Results",
                reason: ContestAction.Reason(code: "NO_SCORES", text: "No scores yet."),
                method: .get,
                href: "/l",
                confirm: nil,
                needsKey: nil
            ),
        ]
        let lines = detail.lines(on: plain)
        #expect(
            lines[0] == "Lake run" && lines[1] == "by Corner Cafe · scheduled · 1 of 20 entered"
        )
        #expect(
            Array(lines.suffix(6)) == [
                "Possible now", "  Join for $5.00  gotchu-ctl contest join \(Self.id)",
                "  Cheer           not with this program: POST /api/contests/1/cheer", "",
                "Not possible", "  No scores yet.  Results",
            ]
        )
    }

    @Test("A board has the contest's own columns, each formatted by its type")
    func board() throws {
        let json = #"""
            {"contract":1,"contest_id":"\#(Self.id)","state":"PAID","leaderboard_state":"settled",
            "columns":[{"key":"rank","label":"#","name":"#","type":"number"},
            {"key":"who","label":"Runner","name":"Runner"},
            {"key":"time","label":"Time","name":"Time","type":"duration_ms","align":"right"},
            {"key":"mood","label":"Mood","name":"Mood","type":"emoji"},
            {"key":"prize","label":"Prize","name":"Prize","type":"currency","align":"right"}],
            "rows":[{"rank":1,"who":"alice","time":1181200,"mood":":)","prize":2917},
            {"rank":null,"who":"bob","time":3723004,"mood":[1],"prize":null}],
            "standings":[{"entry_id":"\#(Self.id)","user_id":"\#(Self.id)","username":"alice",
            "rank":1,"values":[],"tier":1,"payout_cents":2917,"is_you":true,"entry_number":7},
            {"entry_id":"\#(Self.id)","user_id":"\#(Self.id)","username":"bob","rank":null,
            "values":[],"tier":null,"payout_cents":null,"entry_number":9}],
            "meta":{"generated_at":"2026-12-04T20:00:00Z","total_participants":2,"revision":4}}
            """#
        let board = try JSONDecoder().decode(Leaderboard.self, from: Data(json.utf8))
        #expect(board.isValid)
        #expect(
            board.table(in: .usd).lines(on: plain) == [
                "#  Runner         Time  Mood   Prize  ENTRY  ",
                "1  alice     19:41.200  :)    $29.17      7  you",
                "   bob     1:02:03.004  ?                 9  ",
            ]
        )
        #expect(board.summary == "paid · 2 entries · scores of revision 4")
        var other = board
        other.rows[1]["more"] = .null
        #expect(!other.isValid)
    }

    @Test("A list has a column for the state and another for the entries")
    func list() throws {
        let time = Timestamp(milliseconds: 1_900_000_000_000)
        let card = ContestCard(
            id: try #require(WireUUID(Self.id)),
            type: "darts",
            state: .scheduled,
            display: ContestCard.Display(
                title: "Lake run",
                subtitle: "Cafe, 18:00",
                badge: "Race",
                statusLabel: "3 of 20 in"
            ),
            timing: ContestCard.Timing(completesAt: nil, locksAt: time, startsAt: time),
            entry: ContestCard.Entry(
                currency: .usd,
                currentEntries: WireCount(3),
                entryFeeCents: WireCount(500),
                maxEntries: WireCount(20)
            ),
            presentation: ContestCard.Presentation(
                heroImageURL: "",
                icon: "",
                primaryColor: ""
            ),
            version: WireCount(1)
        )
        var list = ContestList(
            contests: [card],
            limit: WireCount(1),
            nextCursor: nil,
            page: nil,
            totalCount: WireCount(1)
        )
        func cells() -> [String] { list.table.rows[0].map(\.text) }
        #expect(Array(cells().prefix(4)) == ["Lake run", "open", "3 of 20", "$5.00"])
        list.contests[0].display.statusLabel = "Draft"
        #expect(cells()[1] == "Draft")
    }

    @Test("A wallet that lacks money is reported with amounts and the command that fills it")
    func missing() throws {
        let id = try #require(WireUUID(Self.id))
        var problem = Problem(.insufficientWalletBalance, detail: "Too little.")
        (problem.requiredCents, problem.availableCents) = (500, 200)
        let told = problem.about(id)
        #expect(told.detail.hasPrefix("You need $3.00 more: $5.00 is asked for, and your wallet"))
        #expect(told.fix == "gotchu-ctl wallet add 3.00")
        #expect(Shortage(asked: Money(minorUnits: 5), held: Money(minorUnits: 5)) == nil)
        #expect(Shortage(asked: Money(minorUnits: .max), held: Money(minorUnits: -1)) == nil)
        let scores = Problem(.scoresChanged, detail: "x").about(id)
        #expect(scores.fix == "gotchu-ctl contest board \(id)")
    }

    @Test("The outcome of a contest is reported in one sentence")
    func outcomes() throws {
        var detail = try Self.detail()
        #expect(detail.stateSentence == "The contest is open to entries.")
        detail.state = .cancelled
        #expect(detail.stateSentence == "The contest is cancelled.")
        #expect(ContestOutcome(detail).sentence(of: detail) == "“Lake run” was cancelled.")
        detail.entry = EnteredRoster(
            entryID: detail.id,
            entryNumber: WireCount(3),
            roster: [],
            rosterVersion: WireCount(0)
        )
        #expect(
            ContestOutcome(detail).sentence(of: detail)
                == "“Lake run” was cancelled: $5.00 went back to your wallet."
        )
        detail.state = .paid
        #expect(
            ContestOutcome(detail).sentence(of: detail)
                == "“Lake run” is settled: you have no rank, you won nothing this time."
        )
    }

    @Test("No source file of gotchu-ctl names a type of contest")
    func typesAreUnnamed() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let templates = try String(
            contentsOf: root.appendingPathComponent(
                "Sources/Contests/Templates/ContestTemplate+BuiltIn.swift"
            ),
            encoding: .utf8
        )
        let types = templates.matches(of: /\n        type: ("[^"]+"),\n/)
            .map { String($0.output.1) }
        #expect(Set(types).isSuperset(of: ["\"race\"", "\"picks\"", "\"quiz\""]))
        let folder = root.appendingPathComponent("Sources/GotchuCommands").path
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        var count = 0
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).lowercased()
            count += 1
            // Race and pick are also words of the code.
            for type in types + ["quiz"] {
                #expect(!text.contains(type), "\(file) names \(type)")
            }
        }
        #expect(count > 100)
    }

    private static let id = "01999f5e-7a10-7c31-9b1e-4a5d6c7b8a90"

    static func detail() throws -> ContestDetail {
        let id = try #require(WireUUID(id))
        let time = Timestamp(milliseconds: 1_900_000_000_000)
        return ContestDetail(
            id: id,
            type: "darts",
            state: .scheduled,
            status: .active,
            leaderboardState: .open,
            display: ContestDetail.Display(title: "Lake run", description: "", rulesURL: nil),
            templateID: id,
            organizerID: id,
            organizerName: "Corner Cafe",
            times: (time, time, time, time),
            endTime: nil,
            counts: (WireCount(1), WireCount(20)),
            entryFeeCents: WireCount(500),
            version: WireCount(2)
        )
    }
}
