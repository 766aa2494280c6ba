import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("Typed input for contests")
struct ContestFormTests {
    @Test("A typed moment is relative, local or in UTC, and other forms are refused")
    func moments() {
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        for (text, seconds) in [("+90m", 5400), ("+2h", 7200), ("+1d", 86_400), ("+0s", 0)] {
            #expect(TypedMoment(text, now: now)?.time == now.advanced(by: .seconds(seconds)))
        }
        let utc = TypedMoment("2026-12-04T18:00:00Z", now: now)?.time
        #expect(utc?.iso8601 == "2026-12-04T18:00:00.000Z")
        let local = TypedMoment("2026-12-04 18:00", now: now)?.time
        #expect(local?.dateText == "2026-12-04 18:00")
        for text in ["", "+", "+2", "+2w", "+-2h", "2h", "2026-12-04", "2026-13-04 18:00", "now"] {
            #expect(TypedMoment(text, now: now) == nil, "\(text)")
        }
    }

    @Test("Typed shares apply to the ranks from 1 on, and must add up to a hundred percent")
    func tiers() {
        func tier(_ first: Int64, _ last: Int64, _ share: Int64) -> JSONValue {
            .object([
                "rank_min": .integer(first), "rank_max": .integer(last),
                "share_bps": .integer(share),
            ])
        }
        #expect(TypedTiers(argument: "100")?.tiers == TypedTiers().tiers)
        #expect(
            TypedTiers(argument: "50,12.5,37.50x3")?.tiers
                == [tier(1, 1, 5000), tier(2, 2, 1250), tier(3, 5, 3750)]
        )
        for text in ["", "50", "50,51", "50,50x0", "100x", "x2", "50,50x2x2", "99.999,0.001"] {
            #expect(TypedTiers(argument: text) == nil, "\(text)")
        }
    }

    @Test("Scores in arguments and scores in a spreadsheet's table are read alike")
    func scores() throws {
        let player = "01999f00-0000-7000-8000-000000000101"
        let typed = try ScoreTable(arguments: ["7=42,seconds=12", "8=-", "\(player)=-3"])
        let table = try ScoreTable(
            csv: "\u{FEFF}entry,points,seconds\r\n7, 42 ,\"12\"\r\n8,,\r\n\(player),-3,\n"
        )
        #expect(typed.scores == table.scores)
        #expect(
            typed.scores == [
                .object([
                    "entry_number": .integer(7), "points": .integer(42),
                    "values": .object(["seconds": .integer(12)]),
                ]),
                .object(["entry_number": .integer(8), "points": .null]),
                .object(["player_id": .string(player), "points": .integer(-3)]),
            ]
        )
        let quoted = try ScoreTable(csv: "player,points,note\n\(player),1,\"a \"\"b\"\", c\"")
        #expect(
            quoted.scores == [
                .object([
                    "player_id": .string(player), "points": .integer(1),
                    "values": .object(["note": .string("a \"b\", c")]),
                ])
            ]
        )
        let german = try ScoreTable(csv: "entry_number;points;seconds\n7;42;12\n")
        #expect(german.scores == [typed.scores[0]])
        let many = try ScoreTable(arguments: (1...1001).map { "\($0)=1" })
        #expect(many.parts.map(\.count) == [500, 500, 1])
    }

    @Test("A malformed score is refused, and a malformed row is reported with its number")
    func badScores() {
        for argument in ["7", "7=", "=7", "x=7", "0=7", "7=1.5", "7=1e3", "7=1,2", "7=1,a=1,a=2"] {
            #expect(throws: ScoreTable.Malformed.self, "\(argument)") {
                try ScoreTable(arguments: [argument])
            }
        }
        for table in [
            "", "7,42", "entry\n7", "entry,points,points\n1,2,3", "points,entry\n1,2",
            "entry,points\n1,2\r3",
        ] {
            #expect(throws: ScoreTable.Malformed.self, "\(table)") { try ScoreTable(csv: table) }
        }
        let violation = #expect(throws: ScoreTable.Malformed.self) {
            try ScoreTable(csv: "entry,points\n1,2\n3\n")
        }
        #expect(violation?.sentence == "The table's row 3 has 1 columns.")
    }

    @Test("A roster's form lists all violations, and finds players by number, name and id")
    func roster() throws {
        let json = #"""
            {"roster_size":3,"positions":["keeper","field","field"],"salary_cap":100,"players":[
            {"player_id":"a","name":"Ann","position":"keeper","salary":60},
            {"player_id":"b","name":"Bob","position":"field","salary":40},
            {"player_id":"c","name":"Cat","position":"field","salary":30},
            {"player_id":"d","name":"cat","position":"keeper","salary":10}]}
            """#
        let data = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        let form = try #require(RosterForm(data))
        func roster(_ names: String...) throws -> [RosterForm.Player] {
            try names.map { try #require(form.player($0)) }
        }
        #expect(form.player("1")?.id == "a" && form.player("ann")?.id == "a")
        #expect(form.player("c")?.name == "Cat")
        // Two players have the name Cat, and no player has the number 0 or 5.
        #expect(form.player("Cat") == nil && form.player("0") == nil && form.player("5") == nil)
        #expect(form.validationErrors(of: try roster("4", "bob", "c")) == [])
        #expect(
            form.validationErrors(of: []) == [
                "3 more to choose", "2 more for field", "1 more for keeper",
            ]
        )
        #expect(
            form.validationErrors(of: try roster("1", "1", "2", "3")) == [
                "1 too many", "Ann stands there twice", "90 over the cap of 100",
            ]
        )
        #expect(RosterForm(.object(["roster_size": .integer(0)])) == nil)
    }
}
