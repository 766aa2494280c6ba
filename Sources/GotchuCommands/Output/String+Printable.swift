extension String {
    /// The text without anything that could command a terminal or turn its direction.
    ///
    /// Names and memos are written by strangers: an escape sequence or a right-to-left override in
    /// one could make an amount look like another.
    var printable: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                .paragraphSeparator:
                result.unicodeScalars.append("\u{FFFD}")
            default:
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// How many columns of a terminal the text takes.
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
