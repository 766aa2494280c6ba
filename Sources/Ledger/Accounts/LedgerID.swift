internal import Crypto
package import GotchuCore

/// An id that the ledger creates: a UUID of version 7 (RFC 9562), so that later ids sort later and
/// new rows are appended to the end of their index.
///
/// The caller of a command creates the ids. A decision creates none, because it must be repeatable.
package protocol LedgerID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible
where RawValue == String {
    /// Wraps an id that the ledger itself created or stored.
    init(trusted rawValue: String)
}

extension LedgerID {
    package init(rawValue: String) {
        self.init(trusted: rawValue)
    }

    /// Returns a new id: 48 bits of time in milliseconds and 74 random bits.
    package static func make(
        at time: Timestamp = .now,
        using generator: inout some RandomNumberGenerator
    ) -> Self {
        let random = UInt64.random(in: .min ... .max, using: &generator)
        let version = 0x7000 | UInt64.random(in: 0...0xFFF, using: &generator)
        let high = UInt64(bitPattern: time.milliseconds) << 16 | version
        let low = 0x8000_0000_0000_0000 | random >> 2
        return Self(trusted: uuidText(high, low))
    }

    /// Returns a new id from the system's secure generator.
    package static func make(at time: Timestamp = .now) -> Self {
        var generator = SystemRandomNumberGenerator()
        return make(at: time, using: &generator)
    }

    package var description: String { rawValue }
}

/// The id of a user, who holds accounts. Opaque: never an e-mail address or a name.
package struct UserID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}

/// The id of a record, such as a session. The transfer that opens a user's account uses the user's
/// id instead.
package struct RecordID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Computes an opaque id from the parts that identify an object: a UUID of version 8 (RFC 9562)
/// with 122 bits of the SHA-256 of `parts`. The same parts always give the same id, so it is not
/// stored.
package func computedID(_ parts: String...) -> String {
    let digest = SHA256.hash(data: Array(parts.joined(separator: "\n").utf8))
    var words: [UInt64] = [0, 0]
    for (index, byte) in digest.prefix(16).enumerated() {
        words[index / 8] = words[index / 8] << 8 | UInt64(byte)
    }
    let high = words[0] & ~0xF000 | 0x8000
    let low = words[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    return uuidText(high, low)
}

/// Returns the usual 8-4-4-4-12 format.
private func uuidText(_ high: UInt64, _ low: UInt64) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for digit in 0..<32 {
        if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
            bytes.append(UInt8(ascii: "-"))
        }
        let half = digit < 16 ? high : low
        let nibble = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (digit % 16)) & 0xF)
        bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
    }
    return String(decoding: bytes, as: UTF8.self)
}
