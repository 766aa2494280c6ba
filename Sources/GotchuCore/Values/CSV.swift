/// Tables for other programs (RFC 4180), mostly for spreadsheets.
///
/// Spreadsheets read a cell as if a person had entered it: a text that begins with a sign such as
/// `=` becomes a formula. All fields but plain numbers are therefore untrusted here: `row` puts an
/// apostrophe before each sign that could begin a formula.
package enum CSV {
    /// Returns the first row of a table. It begins with a byte order mark: without one, Excel does
    /// not read the table as UTF-8.
    package static func header(_ titles: [String]) -> String { "\u{FEFF}" + row(titles) }

    /// Returns a row with its line end; fields are quoted if needed.
    package static func row(_ fields: [String]) -> String {
        fields.map { quoted(isNumber($0) ? $0 : formulaSafe($0)) }.joined(separator: ",") + "\r\n"
    }

    /// The characters that begin a formula, and all that Unicode calls compatible with them, such
    /// as the full-width ones. Some programs treat these alike.
    private static let signs = Set("=≠+-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−﬩⩵⩶".unicodeScalars)

    /// The characters after which a cell begins in a program that was told, or guesses, another
    /// separator than the comma.
    private static let separators = Set(
        ",;|\t\r\n\u{0B}\u{0C}\u{85}\u{2028}\u{2029}".unicodeScalars
    )

    /// Returns a text with an apostrophe before each sign that could begin a formula.
    private static func formulaSafe(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        // The start of the current cell in `safe` until something visible was found in the cell.
        var start: String.Index? = safe.startIndex
        for scalar in text.unicodeScalars {
            if separators.contains(scalar) {
                safe.append(scalar)
                start = safe.endIndex
                continue
            }
            if let cell = start, !isBlank(scalar) {
                if signs.contains(scalar) { safe.insert("'", at: cell) }
                start = nil
            }
            safe.append(scalar)
        }
        return String(safe)
    }

    /// Returns true for a character that a program may skip at the start of a cell: spaces,
    /// quotation marks, and all that is invisible.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value <= 0x20 || scalar.value == 0x7F || scalar == "\"" }
        switch scalar.properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator,
            .nonspacingMark, .enclosingMark, .spacingMark, .unassigned, .privateUse, .surrogate:
            return true
        // The blank pattern of Braille, a symbol.
        default: return scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
        }
    }

    /// Returns true for digits with at most one point and a minus sign before them.
    private static func isNumber(_ field: String) -> Bool {
        let digits = field.utf8.drop { $0 == UInt8(ascii: "-") }
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return field.utf8.count - digits.count <= 1 && parts.count <= 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    /// Returns a field in quotation marks, unless it has plain characters only.
    private static func quoted(_ field: String) -> String {
        let isPlain = field.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || " .:+-_/".utf8.contains(byte)
        }
        guard !isPlain else { return field }
        var text = String.UnicodeScalarView()
        for scalar in field.unicodeScalars {
            if scalar == "\"" { text.append(scalar) }
            text.append(scalar)
        }
        return "\"\(String(text))\""
    }
}
