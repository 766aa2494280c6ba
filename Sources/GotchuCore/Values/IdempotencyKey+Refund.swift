extension IdempotencyKey {
    /// Derives a refund's key from its parameters alone. The same refund has the same key on any
    /// device and at any time, and is made once.
    ///
    /// The payee and the payment server are not part of the key: a session has one payee and one
    /// server. A daemon that was enrolled again, or uses another server address, must derive the
    /// same key.
    ///
    /// - Parameters:
    ///   - requested: The requested amount in minor units; `nil` for all that is not refunded yet.
    ///     `nil` gives another key than the same amount as a number.
    ///   - amount: The amount to refund in minor units.
    ///   - reference: A text that distinguishes refunds of the same amount, compared byte for byte.
    ///   - attempt: The number of earlier attempts, each permanently declined under its own key.
    package static func refund(
        of sid: SessionID,
        requested: Int64?,
        amount: Int64,
        reference: String?,
        attempt: Int
    ) -> IdempotencyKey {
        // Only the reference can contain a line feed, and it is the last part. So two different
        // requests never have the same text. The text and the two constants must never change: they
        // identify old refunds.
        let text = [
            "gotchu refund 1", sid.rawValue, requested.map { "\($0)" } ?? "rest", "\(amount)",
            "\(attempt)", reference.map { "named " + $0 } ?? "unnamed",
        ].joined(separator: "\n")
        // Two independent hashes give 128 bits. If two requests had the same key, the second would
        // be treated as a resend of the first. Nobody profits from that, so the constants may be
        // public.
        let halves = [
            SipHash.hash(Array(text.utf8), (0x676F_7463_6875_2072, 0x6566_756E_6420_6B31)),
            SipHash.hash(Array(text.utf8), (0x676F_7463_6875_2072, 0x6566_756E_6420_6B32)),
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
