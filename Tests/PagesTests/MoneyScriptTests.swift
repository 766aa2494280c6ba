import Foundation
import GotchuCore
import TestSupport
import Testing

@testable import Pages

@Suite("The amounts of the till's script")
struct MoneyScriptTests {
    private static let amounts: [Int64] = [
        0, 1, 5, 99, 100, 1280, -1, -1280, 123_456, 1_234_567, 100_000_000, -100_000_000,
    ]

    /// Evaluates a JavaScript expression with the script's functions, and returns its strings.
    private func run(_ body: String) async throws -> [String?] {
        let folder = try TemporaryFolder()
        let script = String(decoding: PackageResources.money_js, as: UTF8.self)
        let file = try folder.write(
            script + "\nconsole.log(JSON.stringify(\(body)));\n",
            to: "money.mjs"
        )
        let node = try Program("/usr/bin/node", [file])
        #expect(try await node.exitCode() == 0, "\(node.text)")
        return try JSONDecoder().decode([String?].self, from: Data(node.text.utf8))
    }

    @Test("The script formats amounts like the display", arguments: Language.allCases)
    func formatted(language: Language) async throws {
        let format = language.display.money
        let cases = Currency.allCases.flatMap { currency in
            Self.amounts.map { Money(minorUnits: $0, currency: currency) }
        }
        let list = cases.map { "[\($0.minorUnits), \"\($0.currency.rawValue)\"]" }
        let options = """
            {decimal: "\(format.decimal)", group: "\(format.group)",
            sign: "\(format.isSymbolFirst ? "first" : "last")"}
            """
        let texts = try await run(
            "[\(list.joined(separator: ","))]"
                + ".map(([cents, code]) => money(cents, code, \(options)))"
        )
        #expect(texts == cases.map { format.text($0) })
    }

    @Test("A typed amount is parsed exactly or refused, and formatted as plain text")
    func typed() async throws {
        let texts = ["12", "12.5", "$12.50", "0.05", "1.", ".5", "1.234", "-1", "1e3", "1,50", ""]
        let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
        let read = try await run("[\(list)].map((text) => cents(text)?.toString() ?? null)")
        #expect(
            read == ["1200", "1250", "1250", "5", nil, nil, nil, nil, nil, nil, nil]
        )
        let german = try await run(
            #"[cents("12,50 €", "eur", {decimal: ","})?.toString() ?? null]"#
        )
        #expect(german == ["1250"])
        #expect(
            try await run(#"[plain(1280), plain(5), plain(500, "jpy")]"#) == [
                "12.80", "0.05", "500",
            ]
        )
    }
}
