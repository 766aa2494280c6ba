/// Replaces each EID by a pseudonym. An EID always gets the same one. The key is not stored.
///
/// Uses SipHash. Without the 128-bit key, a pseudonym reveals nothing about its EID, although an
/// EID has only 40 bits.
package struct Pseudonymizer: Sendable {
    private let key: (UInt64, UInt64)

    /// Draws a key from the system's secure generator.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(key: (generator.next(), generator.next()))
    }

    init(key: (UInt64, UInt64)) {
        self.key = key
    }

    /// Returns the pseudonym of an EID, itself an EID.
    package func pseudonym(of eid: EID) -> EID {
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
