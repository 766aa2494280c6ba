/// Tables for other programs (RFC 4180).
package enum CSV {
    /// A line with its end: each field in quotes where it needs them.
    package static func row(_ fields: [String]) -> String {
        fields.map(quoted).joined(separator: ",") + "\r\n"
    }

    /// A text of somebody else that no spreadsheet takes for a formula.
    package static func harmless(_ text: String) -> String {
        guard let first = text.unicodeScalars.first(where: { $0 != " " }),
            "=+-@\t\r".unicodeScalars.contains(first)
        else { return text }
        return "'" + text
    }

    private static func quoted(_ field: String) -> String {
        let isPlain = !field.unicodeScalars.contains { "\",\r\n'".unicodeScalars.contains($0) }
        return isPlain ? field : "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
