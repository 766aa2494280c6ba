internal import Crypto

/// The token of a browser's session: 256 random bits and an authentication code of this server. The
/// code lets the server refuse a forged token without a look-up.
struct SessionToken: Sendable {
    private static let length = 32

    private let bytes: [UInt8]

    init() {
        bytes = .random(Self.length)
    }

    /// Creates a token from 32 unpredictable bytes.
    init(bytes: [UInt8]) {
        precondition(bytes.count == Self.length)
        self.bytes = bytes
    }

    /// Parses a cookie's value; `nil` if its code was not made with `key`.
    init?(_ text: String, by key: SymmetricKey) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 128, parts.count == 2,
            let bytes = Base64URL.decode(parts[0]), bytes.count == Self.length,
            let code = Base64URL.decode(parts[1]),
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        else { return nil }
        self.bytes = bytes
    }

    /// Returns the cookie's value.
    func text(by key: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: bytes, using: key)
        return "\(Base64URL.encode(bytes)).\(Base64URL.encode(code))"
    }

    /// The id of the session. A plain hash is enough, because the bytes are random.
    var id: [UInt8] { Array(SHA256.hash(data: bytes)) }

    /// Returns a text derived from `nonce` that only this session can compute.
    func text(for nonce: String) -> String {
        Base64URL.encode(
            HMAC<SHA256>.authenticationCode(
                for: Self.once(nonce),
                using: SymmetricKey(data: bytes)
            )
        )
    }

    /// Returns true if `code` is `text(for: nonce)`. The comparison takes constant time.
    func isCode(_ code: String, for nonce: String) -> Bool {
        guard let code = Base64URL.decode(code) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code,
            authenticating: Self.once(nonce),
            using: SymmetricKey(data: bytes)
        )
    }

    private static func once(_ nonce: String) -> [UInt8] { Array("gotchu-web-once.\(nonce)".utf8) }

    private static let form = Array("gotchu-web-form".utf8)

    /// The token in each form of the session. It proves that the form is from a page of this
    /// server. The session token cannot be computed from it.
    var formToken: String {
        let key = SymmetricKey(data: bytes)
        return Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Self.form, using: key))
    }

    /// Returns true if `text` is this session's form token. The comparison takes constant time.
    func isFormToken(_ text: String) -> Bool {
        guard let code = Base64URL.decode(text) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code,
            authenticating: Self.form,
            using: SymmetricKey(data: bytes)
        )
    }
}
