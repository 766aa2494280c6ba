import GotchuCore
import TestSupport
import Testing

@testable import Contests

@Suite("Rosters")
struct RosterTests {
    private static func id(_ number: Int) -> String {
        "01999f00-0000-7000-8000-00000000020\(number)"
    }

    private static let rule = RosterRule(
        size: 3,
        positions: ["keeper", "wing", "wing"],
        salaryCap: 100,
        players: [
            RosterRule.Player(id: id(1), name: "Ada", position: "keeper", salary: 40),
            RosterRule.Player(id: id(2), name: "Bo", position: "wing", salary: 30),
            RosterRule.Player(id: id(3), name: "Cy", position: "wing", salary: 30),
            RosterRule.Player(id: id(4), name: "Di", position: "wing", salary: 31),
            RosterRule.Player(id: id(5), name: "Ed", position: "keeper", salary: 0),
        ]
    )

    @Test("A roster that follows all rules is accepted, in any order of its players")
    func good() {
        #expect(Self.rule.violation(in: [1, 2, 3].map(Self.id)) == nil)
        #expect(Self.rule.violation(in: [3, 1, 2].map(Self.id)) == nil)
        #expect(Self.rule.violation(in: [5, 4, 2].map(Self.id)) == nil)
    }

    @Test("The violation of an invalid roster is the rule that it violates")
    func bad() {
        let rule = Self.rule
        #expect(rule.violation(in: [1, 2].map(Self.id)) == .size(2))
        #expect(rule.violation(in: [Self.id(1), Self.id(2), "x"]) == .unknownPlayer("x"))
        #expect(rule.violation(in: [1, 2, 2].map(Self.id)) == .twice(Self.id(2)))
        #expect(rule.violation(in: [1, 5, 2].map(Self.id)) == .position("wing"))
        #expect(rule.violation(in: [1, 2, 4].map(Self.id)) == .overCap(101))
    }

    @Test("Built-in templates are valid, and stay equal when they are encoded and decoded again")
    func builtIn() throws {
        for template in ContestTemplate.builtIn {
            #expect(template.violation == nil)
            let bytes = CanonicalJSON.bytes(of: template)
            #expect(try ContestTemplate(file: bytes) == template)
        }
    }

    @Test("A damaged template is either refused with a reason or valid")
    func spoilt() throws {
        var random = SeededGenerator("templates")
        var refused = 0
        for _ in 0..<(1_500 * effort) {
            var bytes = CanonicalJSON.bytes(of: ContestTemplate.builtIn[2])
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 32...126, using: &random)
            }
            do {
                #expect(try ContestTemplate(file: bytes).violation == nil)
            } catch {
                refused += 1
                #expect(!error.reason.isEmpty)
            }
        }
        #expect(refused > 300)
    }

    @Test("A missing member and one of the wrong type are refused, and the reason names them")
    func wrongMembers() {
        let bytes = CanonicalJSON.bytes(of: ContestTemplate.builtIn[0])
        let text = String(decoding: bytes, as: UTF8.self)
        for (id, reason) in [
            (#""ix":"#, "The member id is missing."),
            (#""id":5,"ix":"#, "The member id has a value of the wrong type."),
        ] {
            let bad = text.replacing(#""id":"#, with: id)
            #expect(throws: ContestTemplate.Malformed(reason: reason)) {
                try ContestTemplate(file: Array(bad.utf8))
            }
        }
    }

    @Test("An unknown member of a template is refused, and the reason names it")
    func unknownMember() {
        let bytes = CanonicalJSON.bytes(of: ContestTemplate.builtIn[0])
        let text = String(decoding: bytes, as: UTF8.self)
        let spoilt = text.replacing(#""rounds":1"#, with: #""round":1"#)
        #expect(throws: ContestTemplate.Malformed(reason: "The member round is not known here.")) {
            try ContestTemplate(file: Array(spoilt.utf8))
        }
    }
}
