/// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed function made for short inputs.
enum SipHash {
    static func hash(_ message: [UInt8], _ key: (UInt64, UInt64)) -> UInt64 {
        var state = SipState(key)
        for start in stride(from: 0, to: message.count - message.count % 8, by: 8) {
            state.absorb(word(message[start..<start + 8]))
        }
        let rest = message[(message.count - message.count % 8)...]
        state.absorb(word(rest) | UInt64(truncatingIfNeeded: message.count) << 56)
        return state.finish()
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The internal state of SipHash: four words.
private struct SipState {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ key: (UInt64, UInt64)) {
        v0 = 0x736F_6D65_7073_6575 ^ key.0
        v1 = 0x646F_7261_6E64_6F6D ^ key.1
        v2 = 0x6C79_6765_6E65_7261 ^ key.0
        v3 = 0x7465_6462_7974_6573 ^ key.1
    }

    mutating func absorb(_ word: UInt64) {
        v3 ^= word
        for _ in 0..<2 { turn() }
        v0 ^= word
    }

    mutating func finish() -> UInt64 {
        v2 ^= 0xFF
        for _ in 0..<4 { turn() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func turn() {
        v0 &+= v1
        v1 = rotated(v1, 13) ^ v0
        v0 = rotated(v0, 32)
        v2 &+= v3
        v3 = rotated(v3, 16) ^ v2
        v0 &+= v3
        v3 = rotated(v3, 21) ^ v0
        v2 &+= v1
        v1 = rotated(v1, 17) ^ v2
        v2 = rotated(v2, 32)
    }

    private func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }
}
