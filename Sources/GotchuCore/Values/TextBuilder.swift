/// A builder of UTF-8 text, for text that is built for nearly every advertisement. It is much
/// cheaper than string interpolation.
package struct TextBuilder: Sendable {
    package private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: The expected number of bytes.
    package init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func add(_ byte: UInt8) { bytes.append(byte) }

    package mutating func add(_ bytes: [UInt8]) { self.bytes += bytes }

    package mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes += bytes }

    /// Replaces everything from `start` on by `bytes`.
    mutating func replace(from start: Int, with bytes: [UInt8]) {
        self.bytes.replaceSubrange(start..., with: bytes)
    }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add($0) }
    }

    /// Adds a JSON string with its quotes (RFC 8259, 7).
    package mutating func add(json text: String) {
        var text = text
        add(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            guard utf8.contains(where: Self.isEscaped) else { return add(utf8) }
            for byte in utf8 { add(escaping: byte) }
        }
        add(UInt8(ascii: "\""))
    }

    private mutating func add(escaping byte: UInt8) {
        switch byte {
        case 0x08: add("\\b")
        case 0x09: add("\\t")
        case 0x0A: add("\\n")
        case 0x0C: add("\\f")
        case 0x0D: add("\\r")
        case 0..<0x20:
            add("\\u")
            add(hex: UInt64(byte), width: 4)
        case _ where Self.isEscaped(byte):
            add(UInt8(ascii: "\\"))
            add(byte)
        default: add(byte)
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
    }

    package mutating func add(_ number: Int) {
        if number < 0 { add(UInt8(ascii: "-")) }
        add(digits: UInt64(number.magnitude), width: 1)
    }

    /// Adds a number with one decimal, given in tenths.
    package mutating func add(tenths: Int) {
        if tenths < 0 { add(UInt8(ascii: "-")) }
        add(digits: UInt64(tenths.magnitude / 10), width: 1)
        add(UInt8(ascii: "."))
        add(digits: UInt64(tenths.magnitude % 10), width: 1)
    }

    /// Adds a number in decimal digits, padded with leading zeros to `width`.
    package mutating func add(digits number: UInt64, width: Int) {
        var power: UInt64 = 1
        var left = 1
        while left < width || number / power > 9 {
            power *= 10
            left += 1
        }
        while power > 0 {
            add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / power % 10))
            power /= 10
        }
    }

    /// Adds a number in lowercase hex digits, padded with leading zeros to `width`.
    package mutating func add(hex number: UInt64, width: Int) {
        var digits = max(1, width)
        while digits < 16, number >> (4 * digits) > 0 { digits += 1 }
        while digits > 0 {
            digits -= 1
            let digit = UInt8(truncatingIfNeeded: number >> (4 * digits)) & 0xF
            add(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension Sequence where Element == UInt8 {
    /// The bytes as lowercase hex, two digits each.
    package var hex: String {
        var text = TextBuilder(capacity: 2 * underestimatedCount)
        for byte in self { text.add(hex: UInt64(byte), width: 2) }
        return text.text
    }
}
