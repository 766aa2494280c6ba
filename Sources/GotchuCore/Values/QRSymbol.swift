/// The modules of a QR code; only those with codewords are masked (ISO/IEC 18004, 7.7 to 7.9).
struct QRSymbol: Equatable, Sendable {
    let side: Int
    private var dark: [Bool]
    /// The modules of function patterns and format data, which carry no codewords.
    private var isPattern: [Bool]

    func isDark(_ column: Int, _ row: Int) -> Bool { dark[row * side + column] }

    /// Places the patterns and the codewords, without a mask.
    init(_ layout: QRLayout, codewords: [UInt8]) {
        side = layout.side
        dark = Array(repeating: false, count: side * side)
        isPattern = dark
        drawPatterns(layout)
        place(codewords)
    }

    private mutating func set(_ column: Int, _ row: Int, _ isDark: Bool) {
        dark[row * side + column] = isDark
        isPattern[row * side + column] = true
    }

    private mutating func drawPatterns(_ layout: QRLayout) {
        for index in 0..<side {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (column, row) in [(3, 3), (side - 4, 3), (3, side - 4)] {
            drawFinder(column, row)
        }
        // The format modules stay light until the mask is chosen.
        for index in 0..<9 where index != 6 {
            set(8, index, false)
            set(index, 8, false)
        }
        for index in (side - 8)..<side {
            set(8, index, false)
            set(index, 8, false)
        }
        for centre in layout.alignments {
            for row in -2...2 {
                for column in -2...2 {
                    let isDark = max(abs(column), abs(row)) != 1
                    set(centre.column + column, centre.row + row, isDark)
                }
            }
        }
        if layout.version >= 7 { drawVersion(layout.version) }
    }

    /// Draws the version with its BCH code, twice (ISO/IEC 18004, 7.10).
    private mutating func drawVersion(_ version: Int) {
        var remainder = version
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
        let code = version << 12 | remainder
        for place in 0..<18 {
            let isDark = code >> place & 1 == 1
            set(side - 11 + place % 3, place / 3, isDark)
            set(place / 3, side - 11 + place % 3, isDark)
        }
    }

    /// Draws a finder pattern with its separator, clipped to the symbol.
    private mutating func drawFinder(_ column: Int, _ row: Int) {
        for y in max(row - 4, 0)...min(row + 4, side - 1) {
            for x in max(column - 4, 0)...min(column + 4, side - 1) {
                let distance = max(abs(x - column), abs(y - row))
                set(x, y, distance != 2 && distance != 4)
            }
        }
    }

    /// Draws the level (M is 00) and the mask with their BCH code, twice, and the module that is
    /// always dark (ISO/IEC 18004, 7.9).
    mutating func drawFormat(mask: Int) {
        var remainder = mask
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let format = (mask << 10 | remainder) ^ 0x5412
        for place in 0..<15 {
            let isDark = format >> place & 1 == 1
            // At the upper left finder: down its right edge, then leftwards below it.
            switch place {
            case ..<6: set(8, place, isDark)
            case 6, 7: set(8, place + 1, isDark)
            case 8: set(7, 8, isDark)
            default: set(14 - place, 8, isDark)
            }
            // Below the upper right finder, and to the right of the lower left one.
            if place < 8 {
                set(side - 1 - place, 8, isDark)
            } else {
                set(8, side - 15 + place, isDark)
            }
        }
        set(8, side - 8, true)
    }

    /// Places the codewords in pairs of columns from the right, alternately up and down, skipping
    /// the column of the timing pattern.
    private mutating func place(_ codewords: [UInt8]) {
        var place = 0
        var isUpward = true
        var right = side - 1
        while right > 0 {
            if right == 6 { right -= 1 }
            for step in 0..<side {
                let row = isUpward ? side - 1 - step : step
                for column in [right, right - 1] where !isPattern[row * side + column] {
                    // Modules left over after the last codeword stay light.
                    guard place < 8 * codewords.count else { continue }
                    dark[row * side + column] = codewords[place / 8] >> (7 - place % 8) & 1 == 1
                    place += 1
                }
            }
            isUpward.toggle()
            right -= 2
        }
    }

    /// Returns the masked symbol without its format data. The choice of a mask ignores that data.
    func masked(_ mask: Int) -> QRSymbol {
        var masked = self
        for row in 0..<side {
            for column in 0..<side
            where !isPattern[row * side + column] && Self.isInverted(mask, column, row) {
                masked.dark[row * side + column].toggle()
            }
        }
        return masked
    }

    /// Returns true if a mask inverts the module (ISO/IEC 18004, table 10).
    private static func isInverted(_ mask: Int, _ column: Int, _ row: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        case 7: ((row + column) % 2 + row * column % 3) % 2 == 0
        default: preconditionFailure("a mask is from 0 to 7")
        }
    }
}

extension QRSymbol {
    /// The penalty for patterns that are hard to read; lower is better (ISO/IEC 18004, table 11).
    var penalty: Int {
        var penalty = 0
        for index in 0..<side {
            penalty += Self.penalty(ofLine: (0..<side).map { isDark($0, index) })
            penalty += Self.penalty(ofLine: (0..<side).map { isDark(index, $0) })
        }
        for row in 1..<side {
            for column in 1..<side {
                let isSame =
                    isDark(column, row) == isDark(column - 1, row)
                    && isDark(column, row) == isDark(column, row - 1)
                    && isDark(column, row) == isDark(column - 1, row - 1)
                if isSame { penalty += 3 }
            }
        }
        // Ten points for each 5 % by which the share of dark modules differs from half.
        let steps = abs(20 * dark.count { $0 } - 10 * dark.count) / dark.count
        return penalty + 10 * steps
    }

    /// Returns the penalty for runs of five or more modules of one colour, and for patterns like a
    /// finder: 1 : 1 : 3 : 1 : 1 with four light modules before or after it.
    private static func penalty(ofLine line: [Bool]) -> Int {
        var penalty = 0
        var run = 0
        for index in line.indices {
            run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
        }
        for start in 0...(line.count - 7) where Array(line[start..<start + 7]) == finder {
            let before = line[max(start - 4, 0)..<start]
            let after = line[(start + 7)..<min(start + 11, line.count)]
            if !before.contains(true) || !after.contains(true) { penalty += 40 }
        }
        return penalty
    }

    private static let finder = [true, false, true, true, true, false, true]
}
