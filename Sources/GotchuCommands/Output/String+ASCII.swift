extension String {
    /// The text for a terminal that shows ASCII alone: as wide as before, with the nearest
    /// characters.
    var inASCII: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return map { character in
            // A line end of two bytes is one `Character`.
            if character.isASCII || character == "\r\n" { return String(character) }
            return Self.nearest[character]
                ?? (character.isBar
                    ? "#" : String(repeating: "?", count: String(character).columns))
        }.joined()
    }

    /// The replacements for characters that this program writes itself.
    private static let nearest: [Character: String] = [
        "·": "-", "…": ".", "→": ">", "✓": "+", "✗": "x", "“": "\"", "”": "\"", "–": "-", "−": "-",
    ]
}

extension Character {
    /// A piece of a signal's bar: Block Elements.
    fileprivate var isBar: Bool { ("\u{2580}"..."\u{259F}").contains(self) }
}
