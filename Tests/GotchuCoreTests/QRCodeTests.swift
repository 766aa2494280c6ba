import Foundation
import TestSupport
import Testing

@testable import GotchuCore

@Suite("QR codes")
struct QRCodeTests {
    /// Texts of the greatest and of a middle length for each version, odd and even. The seed is
    /// fixed: segno counts overlapping finders once, and so chooses another mask for some texts.
    private static let texts: [String] = {
        var generator = SeededGenerator("QR codes", seed: 18004)
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")
        return [1, 19, 20, 33, 38, 47, 61, 80, 90, 111, 122, 123, 153, 154].map { length in
            String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "A" })
        } + ["HTTPS://PAY.EXAMPLE/P/8BB71B3447"]
    }()

    /// Texts in byte mode that fill each version, and one in capitals that fills the last version.
    /// segno pads a shorter text that ends at a byte boundary with one byte more.
    private static let fullTexts: [String] = {
        var generator = SeededGenerator("QR codes", seed: 18005)
        let alphabet = (0x21...0x7E).map { Character(UnicodeScalar(UInt8($0))) }
        return [14, 26, 42, 62, 84, 106, 122].map { length in
            "a" + String((1..<length).map { _ in alphabet.randomElement(using: &generator) ?? "a" })
        } + [String(repeating: "A1", count: 89)]
    }()

    private static let invitation =
        "https://pay.example/contests/01a21505-635e-7483-869c-4d08e1ce7af5?join_token=0a"

    private static func rows(_ code: QRCode) -> String {
        (0..<code.side).map { row in
            (0..<code.side).map { code.isDark(column: $0, row: row) ? "1" : "0" }.joined()
        }.joined(separator: "/")
    }

    @Test("A code equals the code that segno makes, in every version and mask", arguments: 0...7)
    func masks(mask: Int) async throws {
        let texts = Self.texts + Self.fullTexts
        let ours = texts.map { QRCode($0, mask: mask).map(Self.rows) }
        let theirs = try await Self.lines(of: "qr.py", ["\(mask)"] + texts)
        #expect(ours == theirs)
        let sides = Set(theirs.map { $0.split(separator: "/").count })
        #expect(sides == [21, 25, 29, 33, 37, 41, 45])
    }

    @Test("The chosen mask of a code is the mask that segno chooses")
    func bestMask() async throws {
        let ours = Self.texts.map { QRCode($0).map(Self.rows) }
        #expect(ours == (try await Self.lines(of: "qr.py", ["best"] + Self.texts)))
    }

    @Test("A code drawn from its path is read correctly by zbar")
    func reader() async throws {
        let folder = try TemporaryFolder()
        let texts = Self.texts + Self.fullTexts + [Self.invitation]
        for (index, text) in texts.enumerated() {
            let code = try #require(QRCode(text))
            let file = try folder.write(Self.picture(of: code), to: "\(index).pbm")
            let reader = try Program("/usr/bin/zbarimg", ["--nodbus", "--quiet", "--raw", file])
            #expect(try await reader.exitCode() == 0)
            #expect(reader.text == text + "\n")
        }
    }

    @Test("A text that is not ASCII, or too long, has no code")
    func refused() {
        #expect(QRCode("É") == nil)
        #expect(QRCode(String(repeating: "A", count: 178)) != nil)
        #expect(QRCode(String(repeating: "A", count: 179)) == nil)
        #expect(QRCode(String(repeating: "a", count: 122)) != nil)
        #expect(QRCode(String(repeating: "a", count: 123)) == nil)
        #expect(QRCode("")?.side == 21)
    }

    private static func lines(of script: String, _ arguments: [String]) async throws -> [String] {
        let program = try await Python.run(script, arguments)
        #expect(try await program.exitCode() == 0, "\(program.text)")
        return program.text.split(separator: "\n").map(String.init)
    }

    /// Returns a picture of the path in the format PBM, with four pixels per module and a quiet
    /// zone.
    private static func picture(of code: QRCode) throws -> String {
        let scale = 4
        let side = code.side + 8
        var dark = [[Bool]](repeating: Array(repeating: false, count: side), count: side)
        var drawn = 0
        for run in code.path.matches(of: #/M(\d+) (\d+)h(\d+)v1h-(\d+)z/#) {
            let column = try #require(Int(run.1))
            let row = try #require(Int(run.2))
            let width = try #require(Int(run.3))
            #expect(run.3 == run.4)
            for step in 0..<width { dark[row + 4][column + 4 + step] = true }
            drawn += run.0.utf8.count
        }
        #expect(drawn == code.path.utf8.count)
        let lines = dark.flatMap { row in
            let line = row.map { String(repeating: $0 ? "1 " : "0 ", count: scale) }.joined()
            return Array(repeating: line, count: scale)
        }
        return "P1\n\(side * scale) \(side * scale)\n" + lines.joined(separator: "\n") + "\n"
    }
}
