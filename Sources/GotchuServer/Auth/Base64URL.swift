internal import FoundationEssentials

/// Base64 for tokens: the URL's alphabet without padding (RFC 4648, 5; RFC 7515, 2).
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array(Data(bytes).base64EncodedData()).prefix { $0 != UInt8(ascii: "=") }
        return String(decoding: digits.map(swapped), as: UTF8.self)
    }

    /// - Returns: `nil` if the text is not the canonical encoding of some bytes. Each token
    ///   therefore has exactly one encoding.
    static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)) }

    /// Decodes base64 digits. The rules are those of `decode` for a text.
    static func decode(_ digits: some Collection<UInt8>) -> [UInt8]? {
        let padding = repeatElement(UInt8(ascii: "="), count: -digits.count & 3)
        guard let bytes = Data(base64Encoded: Data(digits.map(swapped) + padding)),
            encode(bytes).utf8.elementsEqual(digits)
        else { return nil }
        return Array(bytes)
    }

    /// Converts a digit between the standard alphabet and the URL alphabet, in either direction.
    private static func swapped(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: digit
        }
    }
}
