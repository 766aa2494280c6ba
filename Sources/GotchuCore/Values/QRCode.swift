/// A QR code of a short text (ISO/IEC 18004): versions 1 to 7, level M.
///
/// Level M corrects up to about 15 % of the codewords. The alphanumeric mode encodes 0–9, A–Z, the
/// space and `$%*+-./:`. It is used for a text of only these, such as a URL in upper case, and
/// needs two thirds of the space. Other ASCII text is encoded as bytes.
package struct QRCode: Equatable, Sendable {
    /// The number of modules per side, without the quiet zone of four modules around them.
    package let side: Int
    private let symbol: QRSymbol

    /// Encodes the text in the smallest version that fits it.
    ///
    /// - Returns: `nil` if the text is not ASCII, or is longer than 178 characters in the
    ///   alphanumeric mode or 122 in bytes.
    package init?(_ text: some StringProtocol) {
        self.init(text, mask: nil)
    }

    /// Encodes the text with a mask from 0 to 7; `nil` chooses the mask with the lowest penalty.
    init?(_ text: some StringProtocol, mask: Int?) {
        guard let content = QRContent(text),
            let layout = QRLayout.all.first(where: { $0.capacity >= content.bits.bits.count })
        else { return nil }
        side = layout.side
        let blank = QRSymbol(layout, codewords: layout.codewords(of: content))
        let masks = mask.map { $0...$0 } ?? 0...7
        let penalties = masks.map { (mask: $0, penalty: blank.masked($0).penalty) }
        guard let best = penalties.min(by: { $0.penalty < $1.penalty })?.mask else { return nil }
        var symbol = blank.masked(best)
        symbol.drawFormat(mask: best)
        self.symbol = symbol
    }

    /// Returns true if a module is dark; columns and rows count from the upper left.
    package func isDark(column: Int, row: Int) -> Bool { symbol.isDark(column, row) }

    /// The dark modules as an SVG path. A module is one unit, and a horizontal run is one
    /// rectangle.
    package var path: String {
        var path = ""
        for row in 0..<side {
            var column = 0
            while column < side {
                var width = 0
                while column + width < side, isDark(column: column + width, row: row) { width += 1 }
                if width > 0 { path += "M\(column) \(row)h\(width)v1h-\(width)z" }
                column += max(width, 1)
            }
        }
        return path
    }
}

/// A text encoded as bits: mode, count and characters (ISO/IEC 18004, 7.4).
struct QRContent {
    private(set) var bits = QRBits()

    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)

    /// - Returns: `nil` if the text is not ASCII.
    init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let values = bytes.compactMap { Self.alphabet.firstIndex(of: $0) }
        guard values.count == bytes.count else {
            bits.append(0b0100, width: 4)
            bits.append(bytes.count, width: 8)
            for byte in bytes { bits.append(Int(byte), width: 8) }
            return
        }
        bits.append(0b0010, width: 4)
        bits.append(values.count, width: 9)
        for start in stride(from: 0, to: values.count, by: 2) {
            if start + 1 < values.count {
                bits.append(values[start] * 45 + values[start + 1], width: 11)
            } else {
                bits.append(values[start], width: 6)
            }
        }
    }
}

/// The sizes of one version at level M (ISO/IEC 18004, tables 1, 7 and 9).
struct QRLayout: Sendable {
    let version: Int
    /// The number of blocks, all of the same length.
    let blocks: Int
    /// The numbers of data codewords and of error correction codewords in a block.
    let data: Int
    let correction: Int

    var side: Int { 17 + 4 * version }
    /// The number of data bits that fit.
    var capacity: Int { 8 * data * blocks }
    /// The centres of the alignment patterns, by their columns and rows (table E.1).
    var alignments: [(column: Int, row: Int)] {
        switch version {
        case 1: []
        case 7: [(22, 6), (6, 22), (22, 22), (38, 22), (22, 38), (38, 38)]
        default: [(side - 7, side - 7)]
        }
    }

    static let all = [
        QRLayout(version: 1, blocks: 1, data: 16, correction: 10),
        QRLayout(version: 2, blocks: 1, data: 28, correction: 16),
        QRLayout(version: 3, blocks: 1, data: 44, correction: 26),
        QRLayout(version: 4, blocks: 2, data: 32, correction: 18),
        QRLayout(version: 5, blocks: 2, data: 43, correction: 24),
        QRLayout(version: 6, blocks: 4, data: 27, correction: 16),
        QRLayout(version: 7, blocks: 4, data: 31, correction: 18),
    ]

    /// Returns the codewords in the order of placement: all data, then all error correction, each
    /// interleaved by block.
    func codewords(of content: QRContent) -> [UInt8] {
        let bytes = dataCodewords(of: content)
        let parts = (0..<blocks).map { Array(bytes[$0 * data..<($0 + 1) * data]) }
        let corrections = parts.map { ReedSolomon.remainder(of: $0, count: correction) }
        return (0..<data).flatMap { index in parts.map { $0[index] } }
            + (0..<correction).flatMap { index in corrections.map { $0[index] } }
    }

    /// Returns the content with its terminator and padding (ISO/IEC 18004, 7.4).
    private func dataCodewords(of content: QRContent) -> [UInt8] {
        var bits = content.bits
        bits.append(0, width: min(4, capacity - bits.bits.count))
        bits.append(0, width: (8 - bits.bits.count % 8) % 8)
        var padding = 0xEC
        while bits.bits.count < capacity {
            bits.append(padding, width: 8)
            padding ^= 0xEC ^ 0x11
        }
        return bits.bytes
    }
}

/// A sequence of bits; numbers are appended with the highest bit first.
struct QRBits {
    private(set) var bits: [Bool] = []

    mutating func append(_ number: Int, width: Int) {
        for place in (0..<width).reversed() { bits.append(number >> place & 1 == 1) }
    }

    var bytes: [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}

/// The Reed-Solomon code over GF(256) with the polynomial 0x11D.
private enum ReedSolomon {
    /// Returns the remainder of the data divided by the generator of the given degree.
    static func remainder(of data: [UInt8], count: Int) -> [UInt8] {
        let generator = generator(degree: count)
        var remainder = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in 0..<count { remainder[index] ^= multiply(generator[index], factor) }
        }
        return remainder
    }

    /// Returns the product of `x - 2^i` for each `i` below the degree, without the leading 1.
    private static func generator(degree: Int) -> [UInt8] {
        var product = [UInt8](repeating: 0, count: degree)
        product[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                product[index] = multiply(product[index], root)
                if index + 1 < degree { product[index] ^= product[index + 1] }
            }
            root = multiply(root, 2)
        }
        return product
    }

    private static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt8 = 0
        for place in (0..<8).reversed() {
            product = product << 1 ^ (product & 0x80 == 0 ? 0 : 0x1D)
            if right >> place & 1 == 1 { product ^= left }
        }
        return product
    }
}
