/// Base64 for tokens: the URL's alphabet without padding (RFC 4648, 5; RFC 7515, 2).
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        // Bits that do not fill a digit yet are the lowest `held` ones.
        var bits: UInt32 = 0
        var held: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet[Int(bits >> held & 63)])
            }
        }
        if held > 0 { text.append(alphabet[Int(bits << (6 - held) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for anything but the one canonical spelling of some bytes: a token must
    ///   have one spelling only.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var held: UInt32 = 0
        for digit in text.utf8 {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> held))
            }
        }
        // One digit too many, or bits in the last one that belong to no byte.
        guard held < 6, bits & (1 << held - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
