import Foundation
import GotchuCore
import TestSupport
import Testing

@Suite("Tables for spreadsheets")
struct CSVTests {
    /// Texts that spreadsheets turn into a formula, or that programs may change into such a text.
    private static let formulas: [String] = {
        let signs = "=+-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−﬩⩵⩶".unicodeScalars.map { String($0) }
        let blanks = [
            "", " ", "   ", "\t", "\r", "\n", "\r\n", "\0", "\u{1B}", "\u{7F}", "\u{85}", "\u{A0}",
            "\u{AD}", "\u{301}", "\u{34F}", "\u{61C}", "\u{115F}", "\u{1680}", "\u{180E}",
            "\u{2003}", "\u{200B}", "\u{200D}", "\u{200F}", "\u{2028}", "\u{2029}", "\u{202E}",
            "\u{202F}", "\u{2060}", "\u{2066}", "\u{2800}", "\u{3000}", "\u{3164}", "\u{E000}",
            "\u{FE0F}", "\u{FEFF}", "\u{FFA0}", "\u{E0020}", "\u{FEFF} \u{200B}\t", "\"", "\" \"",
        ]
        // A program that was told another separator begins a cell after it.
        let before = ["", "x;", "x\t", "a,", "a|", "a\n", "a\r\n", "x\u{2028}", "a\";", "a;\"\";"]
        return blanks.flatMap { blank in signs.map { "\(blank)\($0)1+1" } }
            + before.flatMap { text in ["=", "\"=", " ＝"].map { "\(text)\($0)1+1" } }
    }()

    private static let plain = [
        "", "Two flat whites", "Käse & Brötchen", "قهوة", "コーヒー", "🍕 Pizza", "“Tea”", "(two)",
        "a - b", "a=b", "x;y", "1 + 1", "'=1+1", "it's", #"say "no""#, "a, b", "e\u{301}",
        "🏴\u{E0067}\u{E007F}",
    ]

    /// Returns the field of a row as RFC 4180 defines it.
    private func field(_ text: String) throws -> String {
        var row = CSV.row([text])[...]
        try #require(row.unicodeScalars.suffix(2).elementsEqual("\r\n".unicodeScalars))
        row.unicodeScalars.removeLast(2)
        guard row.unicodeScalars.first == "\"" else { return String(row) }
        let inner = String(String.UnicodeScalarView(row.unicodeScalars.dropFirst().dropLast()))
        return inner.replacing("\"\"", with: "\"")
    }

    @Test("A text that could become a formula in a spreadsheet has an apostrophe before it")
    func formulas() throws {
        for text in Self.formulas {
            let safe = try field(text)
            let bare = safe.unicodeScalars.filter { $0 != "'" }
            #expect(
                safe != text && bare.elementsEqual(text.unicodeScalars),
                "\(text.debugDescription)"
            )
        }
    }

    @Test("Other texts are unchanged, and numbers are neither changed nor quoted")
    func plain() throws {
        for text in Self.plain { #expect(try field(text) == text) }
        for number in ["0", "-1", "-1.50", "123450", "0.05", "-9223372036854775808"] {
            #expect(CSV.row([number]) == "\(number)\r\n")
        }
        for text in ["--1", "-", "-.5", "-1.", "-1.5.0", "-1+1", "-１", "-1e5", "-1 "] {
            #expect(try field(text) == "'\(text)")
        }
    }

    @Test("A table begins with a byte order mark, and only its special fields are quoted")
    func form() {
        let table = CSV.header(["a", "b"]) + CSV.row(["1", "x, y"]) + CSV.row(["=1", #"""#])
        #expect(
            Array(table.utf8) == [0xEF, 0xBB, 0xBF]
                + Array("a,b\r\n1,\"x, y\"\r\n\"'=1\",\"\"\"\"\r\n".utf8)
        )
    }

    @Test("The set of signs has all characters that Unicode maps to the sign of a formula")
    func signs() async throws {
        let script = """
            import unicodedata
            for code in range(0x110000):
                if 0xD800 <= code < 0xE000: continue
                if unicodedata.normalize('NFKC', chr(code))[:1] in ('=', '+', '-', '@', '\\u2212'):
                    print(f'{code:x}')
            """
        let python = try Program("/usr/bin/python3", ["-c", script])
        #expect(try await python.exitCode() == 0)
        let codes = python.text.split(separator: "\n").compactMap { UInt32($0, radix: 16) }
        #expect(codes.count > 15)
        for code in codes {
            let sign = String(try #require(Unicode.Scalar(code)))
            #expect(try field(sign) == "'\(sign)", "\(sign)")
        }
    }

    @Test(
        "LibreOffice finds no formula in a table, with any separator, and reads texts and numbers"
    )
    func office() async throws {
        let folder = try TemporaryFolder()
        // A file of XML cannot have other control characters than these.
        let texts =
            Self.plain
            + Self.formulas.filter { text in
                text.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 || [0x09, 0x0A, 0x0D].contains($0.value)
                }
            }
        let rows = texts.map { CSV.row(["row", $0, "-1.50"]) }
        let safe = CSV.header(["kind", "text", "amount"]) + rows.joined()
        let unsafe = "\u{FEFF}kind,text,amount\r\nrow,=1+1,-1.50\r\nrow;=1+1;-1.50\r\nrow\t=1+1\r\n"
        // The separators are the comma, the semicolon and the tab, by their codes.
        for separator in [44, 59, 9] {
            let read = try await cells(of: [safe, unsafe], separator, in: folder)
            let (cells, planted) = (read[0], read[1])
            #expect(cells.count >= texts.count)
            #expect(!cells.joined().contains { $0.isFormula }, "\(separator)")
            #expect(planted.joined().count { $0.isFormula } == 1, "\(separator)")
            guard separator == 44 else { continue }
            #expect(cells[0].map { $0.text } == ["kind", "text", "amount"])
            for (text, row) in zip(Self.plain, cells.dropFirst()) {
                #expect(row.count == 3 && row[1].text == text && row[2].number == "-1.5")
            }
        }
    }

    private struct Cell: Decodable {
        let isFormula: Bool
        let text: String
        let number: String?
    }

    /// Returns the cells of tables that LibreOffice reads with a separator. It evaluates formulas
    /// and recognizes numbers.
    private func cells(
        of tables: [String],
        _ separator: Int,
        in folder: TemporaryFolder
    ) async throws -> [[[Cell]]] {
        let files = try tables.enumerated().map { try folder.write($1, to: "table\($0).csv") }
        let filter = "Text - txt - csv (StarCalc):\(separator),34,76,1,,0,false,true,false,,,,true"
        let office = try Program(
            "/usr/bin/soffice",
            [
                "-env:UserInstallation=file://\(folder.path)/profile", "--headless",
                "--infilter=\(filter)", "--convert-to", "fods", "--outdir", folder.path,
            ] + files
        )
        #expect(try await office.exitCode(within: .seconds(90)) == 0, "\(office.text)")
        let script = """
            import json, sys, xml.etree.ElementTree as tree
            office = '{urn:oasis:names:tc:opendocument:xmlns:office:1.0}'
            table = '{urn:oasis:names:tc:opendocument:xmlns:table:1.0}'
            text = '{urn:oasis:names:tc:opendocument:xmlns:text:1.0}'
            print(json.dumps([
                [[{'isFormula': cell.get(table + 'formula') is not None,
                   'text': '\\n'.join(''.join(p.itertext()) for p in cell.iter(text + 'p')),
                   'number': cell.get(office + 'value')}
                  for cell in row.iter(table + 'table-cell')]
                 for row in tree.parse(path).iter(table + 'table-row')]
                for path in sys.argv[1:]]))
            """
        let results = files.map { $0.replacing(".csv", with: ".fods") }
        let python = try Program("/usr/bin/python3", ["-c", script] + results)
        #expect(try await python.exitCode() == 0, "\(python.text)")
        return try JSONDecoder().decode([[[Cell]]].self, from: Data(python.text.utf8))
    }
}
