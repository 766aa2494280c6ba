internal import Crypto

/// The token of a browser's session: 256 random bits, and a code of this server's, so that a
/// made-up one costs no look-up.
struct SessionToken: Sendable {
    private static let length = 32

    private let bytes: [UInt8]

    init() {
        bytes = .random(Self.length)
    }

    /// - Parameter bytes: 32 bytes that nobody can guess.
    init(bytes: [UInt8]) {
        precondition(bytes.count == Self.length)
        self.bytes = bytes
    }

    /// Parses a cookie's value; `nil` unless a server that has `key` has written it.
    init?(_ text: String, by key: SymmetricKey) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 128, parts.count == 2,
            let bytes = Base64URL.decode(parts[0]), bytes.count == Self.length,
            let code = Base64URL.decode(parts[1]),
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        else { return nil }
        self.bytes = bytes
    }

    /// The cookie's value.
    func text(by key: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: bytes, using: key)
        return "\(Base64URL.encode(bytes)).\(Base64URL.encode(code))"
    }

    /// The id of its session. A plain hash is enough for random bytes: there is nothing to guess.
    var id: [UInt8] { Array(SHA256.hash(data: bytes)) }

    /// A text that only this session can make of `nonce`.
    func text(for nonce: String) -> String {
        Base64URL.encode(
            HMAC<SHA256>.authenticationCode(
                for: Array("gotchu-web-once.\(nonce)".utf8),
                using: SymmetricKey(data: bytes)
            )
        )
    }

    private static let form = Array("gotchu-web-form".utf8)

    /// The token that each form of the session carries; it proves that the page was ours, and the
    /// session cannot be computed from it.
    var formToken: String {
        let key = SymmetricKey(data: bytes)
        return Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Self.form, using: key))
    }

    /// Returns true if a form carries this session's token. Takes the same time for each wrong one.
    func isFormToken(_ text: String) -> Bool {
        guard let code = Base64URL.decode(text) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code,
            authenticating: Self.form,
            using: SymmetricKey(data: bytes)
        )
    }
}
