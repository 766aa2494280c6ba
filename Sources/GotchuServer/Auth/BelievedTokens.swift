internal import Synchronization

/// Tokens of ours whose signature was found good: a caller shows the same one again and again, and
/// reading it costs as much as the rest of his request.
///
/// Only what can never change of a token is remembered, its signature under the one secret of this
/// process. Its times are to be asked anew each time. Tokens of others are not kept here: their
/// issuer may withdraw a key.
final class BelievedTokens: Sendable {
    /// How many are remembered; beyond it all are read once more.
    static let limit = 10_000

    /// By their bytes: two different texts can be equal as Unicode.
    private let known = Mutex<[[UInt8]: TokenClaims]>([:])

    var count: Int { known.withLock { $0.count } }

    func claims(of token: String) -> TokenClaims? {
        let bytes = Array(token.utf8)
        return known.withLock { $0[bytes] }
    }

    func believe(_ token: String, _ claims: TokenClaims) {
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
            known[Array(token.utf8)] = claims
        }
    }
}
