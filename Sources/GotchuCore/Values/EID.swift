/// The identifier that a kiosk advertises: 5 random bytes, written as 10 lowercase hex characters.
///
/// An EID is public and short-lived. It identifies a session that may be in front of the payer, but
/// proves nothing. Only the payment server knows which session it is.
package struct EID: Hashable, Sendable {
    /// The number of hex characters of an EID, on the air and in every API.
    package static let length = 10

    /// The five bytes, in the low 40 bits.
    fileprivate let bits: UInt64

    /// Parses exactly ten hex digits, in either case.
    ///
    /// - Returns: `nil` for any other length or character. The length alone is not enough: a Tile's
    ///   service data under the same UUID is ten bytes long too. Its first byte is never a digit.
    package init?(hex: some Sequence<UInt8>) {
        var bits: UInt64 = 0
        var count = 0
        for byte in hex {
            guard count < Self.length, let digit = Self.hexDigit(byte) else { return nil }
            bits = bits << 4 | UInt64(digit)
            count += 1
        }
        guard count == Self.length else { return nil }
        self.bits = bits
    }

    /// Reads an EID from text, as in the APIs: ten hex digits in either case.
    package init?(_ text: some StringProtocol) {
        self.init(hex: text.utf8)
    }

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// Returns a new EID of 40 uniformly random bits from the given generator.
    package static func random(using generator: inout some RandomNumberGenerator) -> EID {
        EID(bits: UInt64.random(in: 0...0xFF_FFFF_FFFF, using: &generator))
    }

    /// Returns a new EID from the system's cryptographically secure generator.
    package static func random() -> EID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// The service data on the air: ten ASCII bytes of lowercase hex.
    package var serviceData: [UInt8] {
        var bytes = TextBuilder(capacity: Self.length)
        bytes.add(self)
        return bytes.bytes
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension EID: TextCodable {
    /// Ten lowercase hex characters.
    package var description: String { String(decoding: serviceData, as: UTF8.self) }
}

extension TextBuilder {
    /// Adds an EID as ten lowercase hex characters.
    package mutating func add(_ eid: EID) { add(hex: eid.bits, width: EID.length) }
}

extension EID: Comparable {
    package static func < (left: EID, right: EID) -> Bool { left.bits < right.bits }
}
