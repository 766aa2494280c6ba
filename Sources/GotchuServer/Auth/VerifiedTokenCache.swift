internal import Synchronization

/// A cache of the server's own tokens with a valid signature. Callers send the same token
/// repeatedly, and verifying it costs as much as the rest of the request.
///
/// A cached signature stays valid, because this process has one secret. The user of the cache
/// checks the expiry. Tokens of other issuers are not cached, because an issuer may revoke a key.
final class VerifiedTokenCache: Sendable {
    /// The number of entries at which the cache is emptied.
    static let limit = 10_000

    private let entries = Mutex<[Text: TokenClaims]>([:])

    var count: Int { entries.withLock { $0.count } }

    func claims(of token: String) -> TokenClaims? {
        let text = Text(token)
        return entries.withLock { $0[text] }
    }

    func insert(_ token: String, _ claims: TokenClaims) {
        entries.withLock { entries in
            if entries.count >= Self.limit { entries.removeAll(keepingCapacity: true) }
            entries[Text(token)] = claims
        }
    }

    /// A token's bytes. Strings are not used as keys, because two different strings can be equal as
    /// Unicode. `hash` passes all bytes in one call; an array would hash each byte separately.
    private struct Text: Hashable {
        private let bytes: [UInt8]

        init(_ token: String) {
            bytes = Array(token.utf8)
        }

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
