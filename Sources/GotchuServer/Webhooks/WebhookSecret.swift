internal import Crypto
internal import FoundationEssentials

/// The secret with which an endpoint's messages are signed (Standard Webhooks). It is shown once,
/// when it is created.
struct WebhookSecret: Equatable, Sendable {
    private static let length = 32

    let bytes: [UInt8]

    static func random() -> WebhookSecret {
        WebhookSecret(bytes: .random(length))
    }

    /// The secret in the format that receivers' libraries accept.
    var text: String { "whsec_" + Data(bytes).base64EncodedString() }

    /// Returns the value of the `webhook-signature` header.
    func signature(id: String, seconds: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(seconds).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(
            for: signed,
            using: SymmetricKey(data: bytes)
        )
        return "v1," + Data(code).base64EncodedString()
    }
}
