internal import FoundationEssentials
internal import JWTKit

/// The claims of a token of ours.
struct Claims: JWTPayload {
    static let ourIssuer = "gotchu-server"

    /// The user.
    let sub: SubjectClaim
    let iss: IssuerClaim
    let iat: IssuedAtClaim
    let exp: ExpirationClaim
    /// Scopes, separated by spaces.
    let scope: String

    func verify(using algorithm: some JWTAlgorithm) throws {
        guard iss.value == Self.ourIssuer else {
            throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "not our issuer")
        }
        try exp.verifyNotExpired()
    }
}
