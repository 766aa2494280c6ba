import GotchuCore

/// One call to Stripe, and the type of object in its reply.
///
/// The same values result in the same bytes. A call that creates something has an idempotency key,
/// which its caller has recorded before. A call that ends something has none: with a key, its first
/// reply would be replayed for a day.
package struct StripeCall<Reply: StripeObject>: Sendable {
    /// The name in metrics: one of a few, never an id.
    package let name: String
    let method: Method
    let path: String
    /// The body of a POST, or the query of a GET.
    let form: Form
    /// The connected account on whose behalf it is made; `nil` for the platform.
    let account: String?
    let key: CallKey?

    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    static func get(
        _ name: String,
        _ path: String,
        _ form: Form = [:],
        account: String? = nil
    ) -> StripeCall {
        StripeCall(name: name, method: .get, path: path, form: form, account: account, key: nil)
    }

    static func post(
        _ name: String,
        _ path: String,
        _ form: Form,
        key: CallKey?,
        account: String? = nil
    ) -> StripeCall {
        StripeCall(name: name, method: .post, path: path, form: form, account: account, key: key)
    }

    /// The endpoint for which calls are limited: the method and the name, without ids.
    var endpoint: String { "\(method.rawValue) \(name)" }
}

/// The idempotency key of a call that creates something: 1 to 255 visible ASCII characters.
package struct CallKey: Hashable, Sendable {
    let text: String

    /// - Returns: `nil` for a text that Stripe does not accept.
    package init?(_ text: String) {
        guard (1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }
}

/// Returns a path segment for an id that was made by Stripe or a client.
func segment(_ id: String) -> String { percentEncoded(id) }
