package import GotchuCore

/// A name that the ledger gives: a UUID of version 7 (RFC 9562), so that names made later sort
/// later and new rows land at the end of their index.
///
/// Names are made by the caller of a command, never by a decision, which must be repeatable.
package protocol LedgerID: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue == String {
    /// Takes a name that the ledger itself made or stored.
    init(trusted rawValue: String)
}

extension LedgerID {
    package init(rawValue: String) {
        self.init(trusted: rawValue)
    }

    /// A new name: 48 bits of time in milliseconds and 74 random bits.
    package static func make(
        at time: Timestamp = .now,
        using generator: inout some RandomNumberGenerator
    ) -> Self {
        let random = UInt64.random(in: .min ... .max, using: &generator)
        let version = 0x7000 | UInt64.random(in: 0...0xFFF, using: &generator)
        let high = UInt64(bitPattern: time.milliseconds) << 16 | version
        let low = 0x8000_0000_0000_0000 | random >> 2
        return Self(trusted: hexGroups(high, low))
    }

    /// A new name from the system's secure generator.
    package static func make(at time: Timestamp = .now) -> Self {
        var generator = SystemRandomNumberGenerator()
        return make(at: time, using: &generator)
    }

    package var description: String { rawValue }
}

/// The usual 8-4-4-4-12 spelling.
private func hexGroups(_ high: UInt64, _ low: UInt64) -> String {
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
