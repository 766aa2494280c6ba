/// The payment server's id of a session. Opaque to all others.
package struct SessionID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    /// 1 to 64 characters of `A–Z a–z 0–9 -`, so that it is safe in a URL path and in a log.
    package let rawValue: String

    package init?(rawValue: String) {
        let isAllowed = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAllowed, (1...64).contains(rawValue.utf8.count) else { return nil }
        self.rawValue = rawValue
    }

    package var description: String { rawValue }
}
