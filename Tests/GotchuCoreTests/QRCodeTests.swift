import Foundation
import TestSupport
import Testing

@testable import GotchuCore

@Suite("QR codes")
struct QRCodeTests {
    /// Texts of the greatest and of middling lengths of every version, odd and even; always the
    /// same ones, as segno counts finders that overlap once, which in some texts is another mask.
    private static let texts: [String] = {
        var generator = SeededGenerator("QR codes", seed: 18004)
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")
        return [1, 19, 20, 33, 38, 47, 61, 80, 90, 111, 122, 123, 153, 154].map { length in
            String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "A" })
        } + ["HTTPS://PAY.EXAMPLE/P/8BB71B3447"]
    }()

    private static func rows(_ code: QRCode) -> String {
        (0..<code.side).map { row in
            (0..<code.side).map { code.isDark(column: $0, row: row) ? "1" : "0" }.joined()
        }.joined(separator: "/")
    }

    @Test("A code is the one that segno makes, in every version and mask", arguments: 0...7)
    func masks(mask: Int) async throws {
        let ours = Self.texts.map { QRCode($0, mask: mask).map(Self.rows) }
        let theirs = try await Self.lines(of: "qr.py", ["\(mask)"] + Self.texts)
        #expect(ours == theirs)
        #expect(Set(theirs.map { $0.split(separator: "/").count }) == [21, 25, 29, 33, 37, 41])
    }

    @Test("The mask of a code is the one that segno chooses")
    func bestMask() async throws {
        let ours = Self.texts.map { QRCode($0).map(Self.rows) }
        #expect(ours == (try await Self.lines(of: "qr.py", ["best"] + Self.texts)))
    }

    @Test("A code drawn by its path is read by zbar")
    func reader() async throws {
        let folder = try TemporaryFolder()
        for (index, text) in Self.texts.enumerated() {
            let code = try #require(QRCode(text))
            let file = try folder.write(Self.picture(of: code), to: "\(index).pbm")
            let reader = try Program("/usr/bin/zbarimg", ["--nodbus", "--quiet", "--raw", file])
            #expect(try await reader.exitCode() == 0)
            #expect(reader.text == text + "\n")
        }
    }

    @Test("A text with another character, or too long, has no code")
    func refused() {
        #expect(QRCode("https://pay.example/p/8bb71b3447") == nil)
        #expect(QRCode("É") == nil)
        #expect(QRCode(String(repeating: "A", count: 155)) == nil)
        #expect(QRCode("")?.side == 21)
    }

    private static func lines(of script: String, _ arguments: [String]) async throws -> [String] {
        let program = try await Python.run(script, arguments)
        #expect(try await program.exitCode() == 0, "\(program.text)")
        return program.text.split(separator: "\n").map(String.init)
    }

    /// A picture (PBM) of what the path draws, four pixels a module, with the quiet zone.
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
