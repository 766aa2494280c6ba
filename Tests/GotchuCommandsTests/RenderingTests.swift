import GotchuCore
import ServiceProcess
import TestSupport
import Testing

@testable import GotchuCommands
@testable import LocalAPI

@Suite("Shown text is plain, fits, and cannot be forged")
struct RenderingTests {
    @Test("Text from others can neither control the terminal nor change its direction")
    func printable() {
        #expect("Corner Shop".printable == "Corner Shop")
        #expect("Café 東京 🍵".printable == "Café 東京 🍵")
        #expect("\u{1B}[2J$1.00".printable == "\u{FFFD}[2J$1.00")
        #expect("a\u{202E}b\nc\u{0}".printable == "a\u{FFFD}b\u{FFFD}c\u{FFFD}")
    }

    @Test("A payee's name is cut to 40 columns, and quotes in it cannot end its quotation marks")
    func names() {
        let pile = "Z" + String(repeating: "\u{0301}", count: 10_000) + "o"
        #expect(pile.printable.unicodeScalars.count == 5)
        #expect("\u{0301}\u{20DD}Shop".printable == "Shop")
        for filler in ["\u{3164}", "\u{2800}", "\u{115F}", "\u{1160}", "\u{FFA0}"] {
            #expect("a\(filler)b".printable == "a\u{FFFD}b")
        }
        #expect("नमस्ते".printable == "नमस्ते")
        #expect(String(repeating: "x", count: 10_000).shortened.columns == 40)
        #expect(String(repeating: "東", count: 10_000).quotedName.columns <= 42)
        #expect("Shop? [y/N] y".quotedName == "“Shop? [y/N] y”")
        #expect("Shop” for “Tea\"".quotedName == "“Shop' for 'Tea'”")
    }

    @Test("The message about an unreadable amount names the mistake")
    func parseFailures() {
        func message(_ text: String, in currency: Currency) -> String {
            Money.parseFailure(for: text, in: currency)
        }
        #expect(message("50.005", in: .usd).hasSuffix("in usd: 2 decimals at most."))
        #expect(message("50.5", in: .jpy).hasSuffix("in jpy, which has no decimals."))
        let commas = ": write it without commas, and with a point before the decimals."
        #expect(message("1,000", in: .usd).hasSuffix("in usd" + commas))
        #expect(message("1,000", in: .jpy).hasSuffix("in jpy: write it without commas."))
        #expect(message("much", in: .usd) == "'much' is not an amount in usd.")
    }

    @Test("The distance of two words is the number of typing mistakes between them")
    func distance() {
        #expect("status".distance(to: "status") == 0)
        #expect("status".distance(to: "stauts") == 1)
        #expect("status".distance(to: "statuss") == 1)
        #expect("status".distance(to: "tatis") == 2)
        #expect("".distance(to: "pay") == 3)
    }

    @Test("Columns are counted as on a terminal, and a cut text does not exceed its limit")
    func columns() {
        #expect("abc".columns == 3)
        #expect("東京".columns == 4)
        for limit in 0...12 {
            #expect("Café 東京 shop".truncated(to: limit).columns <= limit)
        }
        #expect("shop".truncated(to: 4) == "shop")
        #expect("shops".truncated(to: 4) == "sho…")
    }

    @Test("Durations are written in seconds, as a countdown or in whole seconds")
    func durations() {
        #expect(Duration.milliseconds(840).tookText == "0.8 s")
        #expect(Duration.seconds(75).tookText == "75.0 s")
        #expect(Duration.seconds(500).tookText == "500 s")
        #expect(Duration.milliseconds(297_001).countdownText == "4:58")
        #expect(Duration.milliseconds(-5).countdownText == "0:00")
        #expect(Duration.seconds(1).wholeSecondsText == "1 second")
    }

    @Test("A word is quoted so that a shell reads the same word")
    func quoting() {
        #expect("--max".shellQuoted == "--max")
        #expect("".shellQuoted == "''")
        #expect("it's $HOME".shellQuoted == #"'it'\''s $HOME'"#)
    }

    @Test("A bar grows with the level up to eight columns")
    func bar() {
        #expect(PresenceRow.bar(-.infinity).isEmpty)
        let bars = stride(from: -130.0, through: 20, by: 0.5).map { PresenceRow.bar($0).columns }
        #expect(bars == bars.sorted())
        #expect(bars.last == 8)
    }

    @Test(
        "A line buffer returns whole lines from any pieces, and refuses a line that is too long"
    )
    func lines() throws {
        var random = SeededGenerator("lines")
        for _ in 0..<200 {
            let lines = (0..<Int.random(in: 0...20, using: &random)).map { index in
                [UInt8](repeating: UInt8(97 + index), count: Int.random(in: 1...40, using: &random))
            }
            var rest = Array(lines.joined(separator: [10])) + (lines.isEmpty ? [] : [10, 10])
            var buffer = LineBuffer(limit: 64)
            var got: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                buffer.append(rest.prefix(count))
                rest.removeFirst(count)
                while let line = try buffer.nextLine() { got.append(line) }
            }
            #expect(got == lines)
        }
        var buffer = LineBuffer(limit: 64)
        buffer.append([UInt8](repeating: 97, count: 65))
        #expect(throws: LocalClientFailure.self) { try buffer.nextLine() }
    }
}
