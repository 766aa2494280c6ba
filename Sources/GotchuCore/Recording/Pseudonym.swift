/// Replaces EIDs by others, the same by the same, with a key that nobody keeps.
///
/// By SipHash: without the 128-bit key nothing is learnt about an EID from its pseudonym, though
/// both have 40 bits.
package struct Pseudonym: Sendable {
    private let key: (UInt64, UInt64)

    /// With a key of the system's secure generator.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(key: (generator.next(), generator.next()))
    }

    init(key: (UInt64, UInt64)) {
        self.key = key
    }

    /// The pseudonym of an EID, itself an EID.
    package func of(_ eid: EID) -> EID {
        var digits = SipHash.hash(eid.serviceData, key)
        let bytes = (0..<EID.length).map { _ in
            defer { digits >>= 4 }
            let digit = UInt8(truncatingIfNeeded: digits & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        guard let pseudonym = EID(hex: bytes) else { preconditionFailure("ten hex digits") }
        return pseudonym
    }
}
