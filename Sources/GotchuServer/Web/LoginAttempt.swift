internal import Crypto
internal import GotchuCore

/// A login in progress at the OpenID provider. The browser keeps it in a sealed cookie. Thus logins
/// that unknown callers start need no memory of the server.
///
/// All secret values, including the session's token, are derived from one seed. If the provider's
/// response is sent again, it yields the same token, and no second session begins.
struct LoginAttempt: Sendable {
    /// The time limit for logging in at the provider.
    static let lifetime: Duration = .seconds(10 * 60)
    private static let seedLength = 32

    private let seed: [UInt8]
    let startedAt: Timestamp
    /// A Boolean that is true if the person must authenticate again.
    let isFresh: Bool
    /// The page to open after the login.
    let target: String

    init(to target: String, isFresh: Bool, at time: Timestamp) {
        seed = .random(Self.seedLength)
        startedAt = time
        self.isFresh = isFresh
        self.target = target
    }

    /// Opens a cookie's value; `nil` if it was not sealed with `key` or has expired.
    init?(_ text: String, sealedWith key: SymmetricKey, at time: Timestamp) {
        guard text.utf8.count <= 4_096, let combined = Base64URL.decode(text),
            let box = try? AES.GCM.SealedBox(combined: combined),
            let opened = try? AES.GCM.open(box, using: key), opened.count >= 9 + Self.seedLength
        else { return nil }
        let bytes = [UInt8](opened)
        isFresh = bytes[0] == 1
        startedAt = Timestamp(
            milliseconds: bytes[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        )
        seed = Array(bytes[9..<9 + Self.seedLength])
        target = String(decoding: bytes[(9 + Self.seedLength)...], as: UTF8.self)
        guard time < startedAt.advanced(by: Self.lifetime) else { return nil }
    }

    func sealed(with key: SymmetricKey) throws -> String {
        let time = (0..<8).map {
            UInt8(truncatingIfNeeded: startedAt.milliseconds >> Int64(56 - 8 * $0))
        }
        let bytes = [isFresh ? 1 : 0] + time + seed + Array(target.utf8)
        guard let combined = try AES.GCM.seal(bytes, using: key).combined else {
            preconditionFailure("the usual nonce has 12 bytes")
        }
        return Base64URL.encode(combined)
    }

    /// The `state` that the provider returns; it ties the response to this browser's login.
    var state: String { Base64URL.encode(derived("state")) }
    /// The `nonce` that the ID token returns; it ties the token to this login.
    var nonce: String { Base64URL.encode(derived("nonce")) }
    /// The secret that proves, in the exchange of the code, that this server began the login (RFC
    /// 7636).
    var verifier: String { Base64URL.encode(derived("verifier")) }
    /// The SHA-256 of the verifier. It is sent to the provider at the beginning of the login.
    var challenge: String { Base64URL.encode(SHA256.hash(data: Array(verifier.utf8))) }
    /// The token of the session that this login begins.
    var token: SessionToken { SessionToken(bytes: derived("session")) }

    private func derived(_ purpose: String) -> [UInt8] {
        let text = Array("gotchu-login-\(purpose)".utf8)
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: seed)))
    }
}
