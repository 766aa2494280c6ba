/// The API key with which a server calls Stripe. It is never printed.
package struct StripeSecretKey: Sendable, CustomStringConvertible {
    var text: String { reveal() }
    /// A Boolean that is true for a key that moves real money.
    package let isLive: Bool
    /// The text is stored in a closure, which no dump shows.
    private let reveal: @Sendable () -> String

    /// - Returns: `nil` for a text that is not a secret or restricted key of Stripe.
    package init?(_ text: String) {
        let forms = [
            ("sk_test_", false), ("rk_test_", false), ("sk_live_", true), ("rk_live_", true),
        ]
        guard let form = forms.first(where: { text.hasPrefix($0.0) }),
            (form.0.utf8.count + 1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ Self.isWord($0) })
        else { return nil }
        reveal = { text }
        isLive = form.1
    }

    fileprivate static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    package var description: String { isLive ? "a live key" : "a test key" }
}

/// The publishable key for apps: not secret, and of the same mode as the server's key.
package struct StripePublishableKey: Equatable, Sendable {
    package let text: String
    package let isLive: Bool

    package init?(_ text: String) {
        guard text.hasPrefix("pk_test_") || text.hasPrefix("pk_live_"),
            (9...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ StripeSecretKey.isWord($0) })
        else { return nil }
        self.text = text
        isLive = text.hasPrefix("pk_live_")
    }
}
