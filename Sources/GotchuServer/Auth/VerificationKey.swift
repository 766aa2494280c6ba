internal import JWTKit

/// A public key pinned to one algorithm. A token whose header names another algorithm is refused.
struct VerificationKey: Sendable {
    private let algorithm: any JWTAlgorithm

    /// The name of the one algorithm.
    var algorithmName: String { algorithm.name }

    init(_ algorithm: any JWTAlgorithm) {
        self.algorithm = algorithm
    }

    /// Returns true if the token was signed with the matching private key.
    func verifies(_ token: SignedToken) -> Bool {
        guard token.algorithm == algorithm.name else { return false }
        return (try? algorithm.verify(token.signature, signs: token.signedBytes)) ?? false
    }
}
