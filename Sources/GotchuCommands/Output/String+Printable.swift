extension String {
    /// The number of combining marks that one letter keeps: scripts need three, and piles of them
    /// cover other lines.
    private static let markLimit = 3
    /// The columns for a name or a memo.
    private static let nameColumns = 40

    /// The text without anything that controls a terminal, changes its direction, overlaps other
    /// text or is invisible.
    ///
    /// Names and memos are written by strangers: an escape sequence or a right-to-left override in
    /// one could make an amount look like another.
    var printable: String {
        var result = ""
        // A mark at the beginning would combine with the text before.
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
                // Fillers are letters and symbols by their category, but blank.
                let isBlank =
                    scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
                result.unicodeScalars.append(isBlank ? "\u{FFFD}" : scalar)
                marks = 0
            }
        }
        return result
    }

    /// A name or a memo of somebody else, printable and short enough for a line.
    var shortened: String { printable.truncated(to: Self.nameColumns) }

    /// The same in quotation marks, so that nothing in it looks like this program's own words.
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
    /// One column, or two for what East Asian Width (UAX #11) calls wide, and for emoji.
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
