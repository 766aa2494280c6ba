extension String {
    /// The text for an ASCII terminal, with the nearest characters and the same width.
    var inASCII: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return map { character in
            // CR LF is a single `Character`.
            if character.isASCII || character == "\r\n" { return String(character) }
            return Self.nearest[character]
                ?? (character.isBar
                    ? "#" : String(repeating: "?", count: String(character).columns))
        }.joined()
    }

    /// The replacements for non-ASCII characters in this program's own texts.
    private static let nearest: [Character: String] = [
        "·": "-", "…": ".", "→": ">", "✓": "+", "✗": "x", "“": "\"", "”": "\"", "–": "-", "−": "-",
    ]
}

extension Character {
    /// A Boolean that is true for a character of a signal bar (Block Elements).
    fileprivate var isBar: Bool { ("\u{2580}"..."\u{259F}").contains(self) }
}
