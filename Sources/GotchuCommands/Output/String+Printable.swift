extension String {
    /// The most combining marks kept on a character: scripts need three, and more would cover other
    /// lines.
    private static let markLimit = 3
    /// The columns for a name or a memo.
    private static let nameColumns = 40

    /// The text without characters that control a terminal, change the direction of text, overlap
    /// other text or are invisible. U+FFFD replaces them; excess combining marks are removed.
    ///
    /// Names and memos come from other people: an escape sequence or a right-to-left override could
    /// make an amount look like another.
    var printable: String {
        var result = ""
        // A mark at the start would combine with the preceding text.
        var marks = Self.markLimit
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                .paragraphSeparator:
                result.unicodeScalars.append("\u{FFFD}")
                marks = 0
            case .nonspacingMark, .enclosingMark, .spacingMark:
                guard marks < Self.markLimit, !scalar.properties.isDefaultIgnorableCodePoint else {
                    continue
                }
                result.unicodeScalars.append(scalar)
                marks += 1
            default:
                // Fillers have the category of letters or symbols, but are blank.
                let isBlank =
                    scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
                result.unicodeScalars.append(isBlank ? "\u{FFFD}" : scalar)
                marks = 0
            }
        }
        return result
    }

    /// The text, printable and short enough for a line; for names and memos of other people.
    var shortened: String { printable.truncated(to: Self.nameColumns) }

    /// The shortened text in quotation marks. Those inside it are replaced, so it cannot look like
    /// this program's own text.
    var quotedName: String {
        "“" + String(shortened.map { "\"“”„‟".contains($0) ? "'" : $0 }) + "”"
    }

    /// The number of terminal columns of the text.
    var columns: Int {
        reduce(0) { $0 + $1.columns }
    }

    /// The text cut to `limit` columns, with an ellipsis if anything was cut.
    func truncated(to limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 0 else { return "" }
        var result = ""
        var used = 1
        for character in self {
            used += character.columns
            guard used <= limit else { break }
            result.append(character)
        }
        return result + "…"
    }
}

extension Character {
    /// The columns of the character: two for wide characters (East Asian Width, UAX #11) and emoji,
    /// otherwise one.
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
