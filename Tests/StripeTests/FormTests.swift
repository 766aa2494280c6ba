import TestSupport
import Testing

@testable import Stripe

@Suite("Forms of Stripe's API")
struct FormTests {
    @Test("Objects and lists become names with brackets, in their original order")
    func nesting() {
        let form: Form = [
            "mode": "payment", "expires_at": 1_795_390_000,
            "line_items": [["quantity": 1, "price_data": ["currency": "usd"]]],
            "adaptive_pricing": ["enabled": false], "methods": ["card", "link"],
        ]
        let names = form.pairs.map { "\($0.name)=\($0.value)" }
        #expect(
            names == [
                "mode=payment", "expires_at=1795390000", "line_items[0][quantity]=1",
                "line_items[0][price_data][currency]=usd", "adaptive_pricing[enabled]=false",
                "methods[0]=card", "methods[1]=link",
            ]
        )
    }

    @Test("Special characters are escaped, so that a value cannot end its parameter")
    func escapes() {
        let form: Form = ["metadata": ["a": "x&amount=1=2+3%26 ü\n"]]
        #expect(form.text == "metadata%5Ba%5D=x%26amount%3D1%3D2%2B3%2526%20%C3%BC%0A")
    }

    @Test("An absent parameter is omitted, and metadata is sorted by name")
    func optional() {
        let form = Form([("a", .integer(1))]).adding("b", nil as String?).adding("c", "d")
        #expect(form.text == "a=1&c=d")
        #expect(Form(["z": "1", "b": "2", "m": "3"]).text == "b=2&m=3&z=1")
    }

    @Test("Python's decoder of form bodies reads random forms unchanged")
    func roundTrip() async throws {
        var random = SeededGenerator("forms")
        let forms = (0..<200).map { _ in Self.form(depth: 3, &random) }
        let script = """
            import sys, urllib.parse
            for line in open(sys.argv[1]):
                text = line.rstrip("\\n")
                for name, value in urllib.parse.parse_qsl(text, keep_blank_values=True):
                    print(name.encode().hex(), value.encode().hex())
            """
        let folder = try TemporaryFolder()
        let file = try folder.write(forms.map { $0.text + "\n" }.joined(), to: "forms")
        let python = try Program("/usr/bin/python3", ["-c", script, file])
        #expect(try await python.exitCode() == 0, "\(python.text)")
        let wanted = forms.flatMap(\.pairs).map { "\(Self.hex($0.name)) \(Self.hex($0.value))\n" }
        #expect(python.text == wanted.joined(), "seed \(random.seed)")
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func form(depth: Int, _ random: inout SeededGenerator) -> Form {
        Form(
            (0..<Int.random(in: 0...4, using: &random)).map { place in
                ("n\(place)" + text(&random), value(depth: depth, &random))
            }
        )
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> Form.Value {
        switch Int.random(in: 0..<(depth > 0 ? 5 : 3), using: &random) {
        case 0: .text(text(&random))
        case 1: .integer(.random(in: .min ... .max, using: &random))
        case 2: .boolean(.random(using: &random))
        case 3: .object(form(depth: depth - 1, &random))
        default:
            .list(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    value(depth: depth - 1, &random)
                }
            )
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let letters = Array("ab&=+% ;/?#\"'\u{0}\u{e9}\u{1F4B3}\n")
        return String(
            (0..<Int.random(in: 0...6, using: &random)).map { _ in
                letters[Int.random(in: 0..<letters.count, using: &random)]
            }
        )
    }
}
