extension IdempotencyKey {
    /// Derives a refund's key from its parameters alone: the same refund, requested on any device
    /// and at any time, has the same key and is made once.
    ///
    /// The payee and the payment server are no part of it. A session has one payee and one server,
    /// and a daemon that was enrolled again, or finds its server under another address, must still
    /// derive the same key.
    ///
    /// - Parameters:
    ///   - wished: The requested amount in minor units; `nil` for everything not refunded yet,
    ///     which is another request than the same amount in figures.
    ///   - amount: The amount in figures.
    ///   - reference: Byte for byte: it tells two refunds of one amount apart.
    ///   - attempt: The number of attempts that the server has declined for good before this one,
    ///     each under a key of its own.
    package static func refund(
        of sid: SessionID,
        wished: Int64?,
        amount: Int64,
        reference: String?,
        attempt: Int
    ) -> IdempotencyKey {
        // Nothing before the reference can contain a line feed, so that two requests never have the
        // same text. The text and the two constants never change: they identify refunds that were
        // made long ago.
        let wish = [
            "gotchu refund 1", sid.rawValue, wished.map { "\($0)" } ?? "rest", "\(amount)",
            "\(attempt)", reference.map { "named " + $0 } ?? "unnamed",
        ].joined(separator: "\n")
        // Two independent halves of 64 bits: with equal keys for different requests, the second
        // would be taken for the first. Nobody gains by searching for a collision, so that the
        // constants may be public.
        let halves = [
            SipHash.hash(Array(wish.utf8), (0x676F_7463_6875_2072, 0x6566_756E_6420_6B31)),
            SipHash.hash(Array(wish.utf8), (0x676F_7463_6875_2072, 0x6566_756E_6420_6B32)),
        ]
        let digits = halves.map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        guard let key = IdempotencyKey(rawValue: "refund-" + digits.joined()) else {
            preconditionFailure("39 visible characters are a valid key")
        }
        return key
    }
}
