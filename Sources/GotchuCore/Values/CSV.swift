/// Tables for other programs (RFC 4180).
package enum CSV {
    /// Returns a row with its line end; fields are quoted if needed.
    package static func row(_ fields: [String]) -> String {
        fields.map(quoted).joined(separator: ",") + "\r\n"
    }

    /// Returns an untrusted text, changed if needed so that no spreadsheet treats it as a formula.
    package static func formulaSafe(_ text: String) -> String {
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
