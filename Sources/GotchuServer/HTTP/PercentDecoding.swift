/// Decodes a segment of a path (RFC 3986, 2.1).
///
/// - Returns: `nil` for a broken escape, or bytes that are not UTF-8.
func percentDecoded(_ segment: String) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(segment.utf8)[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        let digits = rest.prefix(2)
        guard digits.count == 2, !digits.contains(UInt8(ascii: "+")),
            let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
        rest.removeFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
}
