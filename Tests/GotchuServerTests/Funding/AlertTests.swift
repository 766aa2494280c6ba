import Foundation
import Ledger
import TestSupport
import Testing

@testable import GotchuServer

@Suite("Alerts")
struct AlertTests {
    private struct File: Decodable {
        let groups: [Group]
    }

    private struct Group: Decodable {
        let rules: [Rule]
    }

    private struct Rule: Decodable {
        let alert: String
        let expr: String
    }

    /// Returns the alert rules, parsed by PyYAML.
    private static func rules() async throws -> [Rule] {
        let script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
        let arguments = ["-c", script, Python.file("docs/alerts.rules.yml")]
        let python = try Program(try await Python.interpreter(), arguments)
        #expect(try await python.exitCode() == 0, "\(python.text)")
        let file = try JSONDecoder().decode(File.self, from: Data(python.text.utf8))
        return file.groups.flatMap(\.rules)
    }

    @Test("All metrics and labels of the alert rules exist on the metrics page")
    func names() async throws {
        let rules = try await Self.rules()
        #expect(rules.count >= 10)
        try await FundingRig.with(more: ["CONTESTS": "true"]) { rig in
            let wire = await rig.wire()
            let payer = try await wire.login("payer")
            _ = try await rig.deposit(payer, cents: 500, key: "a")
            _ = try await wire.get("/api/wallet/balance", token: payer)
            _ = try await wire.post("/api/webhooks/stripe")
            let page = try await wire.get("/metrics").text
            let samples = Set(
                page.split(separator: "\n").map { line in line.prefix { $0 != "{" && $0 != " " } }
            )
            for rule in rules {
                let names = rule.expr.matches(of: /gotchu_server_[a-z_]+/).map(\.output)
                #expect(!names.isEmpty, "\(rule.alert)")
                for name in names {
                    #expect(samples.contains(name), "\(rule.alert) names \(name)")
                }
                for match in rule.expr.matches(of: /(\w+)="([^"]+)"/) {
                    let label = "\(match.1)=\""
                    #expect(page.contains(label), "\(rule.alert) names \(label)")
                    if match.1 == "route" {
                        #expect(page.contains(match.0), "\(rule.alert): no \(match.0)")
                    }
                }
            }
        }
    }

    @Test(
        "The operator's manual names all metrics of a server, and its full names all exist"
    )
    func metrics() async throws {
        let text = try String(contentsOfFile: Python.file("docs/operations.md"), encoding: .utf8)
        try await FundingRig.with(more: ["CONTESTS": "true"]) { rig in
            let wire = await rig.wire()
            _ = try await rig.deposit(try await wire.login("payer"), cents: 500, key: "a")
            let page = try await wire.get("/metrics").text
            let names = Set(page.matches(of: /TYPE gotchu_server_([a-z_]+)/).map(\.output.1))
            #expect(names.count > 25)
            let described = Set(text.matches(of: /(?:gotchu_server_|…)([a-z_]+)/).map(\.output.1))
            for name in names { #expect(described.contains(name), "\(name)") }
            for name in text.matches(of: /gotchu_server_([a-z_]+)/).map(\.output.1) {
                #expect(names.contains(name), "\(name)")
            }
        }
    }

    @Test("The operator's manual names all alerts")
    func manual() async throws {
        let text = try String(contentsOfFile: Python.file("docs/operations.md"), encoding: .utf8)
        for rule in try await Self.rules() {
            #expect(text.contains("`\(rule.alert)`"), "\(rule.alert)")
        }
    }

    @Test("The operator's manual says what each rule of `verify` about records means")
    func rules() throws {
        let text = try String(contentsOfFile: Python.file("docs/operations.md"), encoding: .utf8)
        for rule in RecordRule.all { #expect(text.contains(rule.rule), "\(rule.rule)") }
    }
}
