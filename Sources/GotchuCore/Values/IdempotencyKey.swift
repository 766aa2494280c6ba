/// The key of one attempt to pay or refund: resends with the same key take effect once.
package struct IdempotencyKey: RawRepresentable, Hashable, Codable, Sendable {
    /// The allowed length of a key, in ASCII characters.
    static let allowedLength = 16...255

    /// 16 to 255 visible ASCII characters, without the quotes that a header may put around them.
    package let rawValue: String

    package init?(rawValue: String) {
        guard Self.allowedLength.contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") })
        else { return nil }
        self.rawValue = rawValue
    }

    /// Parses the value of an `Idempotency-Key` header, bare or quoted.
    ///
    /// The draft standard (draft-ietf-httpapi-idempotency-key-header) requires quotes; most clients
    /// send none.
    package init?(header: String) {
        var value = header[...]
        if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
            value = value.dropFirst().dropLast()
        }
        self.init(rawValue: String(value))
    }

    /// A new key of 128 random bits.
    package static func random() -> IdempotencyKey {
        let digits = Array("0123456789abcdef")
        let text = String((0..<32).map { _ in digits[Int.random(in: 0..<16)] })
        guard let key = IdempotencyKey(rawValue: text) else {
            preconditionFailure("32 hex digits are a valid key")
        }
        return key
    }
}
