internal import Synchronization

/// Tokens of ours whose signature was found good: a caller shows the same one again and again, and
/// reading it costs as much as the rest of his request.
///
/// Only what can never change of a token is remembered, its signature under the one secret of this
/// process. Its times are to be asked anew each time. Tokens of others are not kept here: their
/// issuer may withdraw a key.
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

    /// A token by its bytes: two different texts can be equal as Unicode. Hashed all at once; an
    /// array hashes each element by itself.
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
