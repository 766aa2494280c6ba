/// Percent-encodes all characters except letters, digits, `-` and `_` (RFC 3986, 2.1). The text can
/// then not change the structure of a URL.
package func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { result, byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            result.unicodeScalars.append(UnicodeScalar(byte))
        default:
            result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }
}

/// Decodes a percent-encoded path segment (RFC 3986, 2.1).
///
/// - Returns: `nil` for a broken escape, bytes that are not UTF-8, or too many combining marks in a
///   row.
package func percentDecoded(_ segment: String) -> String? {
    percentDecoded(segment.utf8)
}

package func percentDecoded(_ segment: some Sequence<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(segment)[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let value = escapedByte(rest.prefix(2)) else { return nil }
        bytes.append(value)
        rest.removeFirst(2)
    }
    guard let text = String(validating: bytes, as: UTF8.self), text.hasShortMarkRuns else {
        return nil
    }
    return text
}

/// Returns the byte of an escape's two hexadecimal digits; `nil` if they are none.
package func escapedByte(_ digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count == 2 else { return nil }
    var byte: UInt8 = 0
    for digit in digits {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            byte = byte << 4 | (digit - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
            // A small letter is a capital one with this bit.
            byte = byte << 4 | ((digit | 0x20) - UInt8(ascii: "a") + 10)
        default: return nil
        }
    }
    return byte
}
