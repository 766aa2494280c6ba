internal import FoundationEssentials
internal import GotchuAPI
internal import Hummingbird
internal import JWTKit
internal import Ledger

/// Makes and checks bearer tokens.
///
/// The key carries its algorithm (HS256); what a token's header says about that is never asked, so
/// neither `none` nor another algorithm can be smuggled in.
struct Tokens: Sendable {
    /// How long a development token is good.
    private static let lifetime: TimeInterval = 30 * 24 * 60 * 60
    /// No token of ours is longer; a longer one is not worth decoding.
    private static let longestToken = 4_096

    private let keys = JWTKeyCollection()

    init(_ secret: Secret) async {
        await keys.add(hmac: HMACKey(from: secret.bytes), digestAlgorithm: .sha256)
    }

    /// A token that lets a user of a development server do everything he can do.
    func developmentToken(for user: UserID, at now: Date = Date()) async throws -> String {
        let scopes = Scope.allCases.map(\.rawValue).joined(separator: " ")
        return try await keys.sign(
            Claims(
                sub: SubjectClaim(value: user.rawValue),
                iss: IssuerClaim(value: Claims.ourIssuer),
                iat: IssuedAtClaim(value: now),
                exp: ExpirationClaim(value: now.addingTimeInterval(Self.lifetime)),
                scope: scopes
            )
        )
    }

    /// The user who calls.
    ///
    /// - Throws: A problem: 401 without a good token, 403 if it lacks the scope.
    func user(of request: Request, needing scope: Scope? = nil) async throws(Problem) -> UserID {
        guard let token = Self.bearer(of: request), token.utf8.count <= Self.longestToken,
            let claims = try? await keys.verify(token, as: Claims.self)
        else {
            throw Problem(
                .unauthorized,
                detail: "The call needs a valid bearer token.",
                fix: "Log in again.",
                retryable: false
            )
        }
        if let scope, !claims.scope.split(separator: " ").contains(Substring(scope.rawValue)) {
            throw Problem(.forbidden, detail: "The token does not allow this.", retryable: false)
        }
        return UserID(trusted: claims.sub.value)
    }

    private static func bearer(of request: Request) -> String? {
        guard let value = request.headers[.authorization] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
