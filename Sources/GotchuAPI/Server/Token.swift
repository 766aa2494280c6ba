/// The answer to `POST /auth/token`, with the member names of RFC 6749.
package struct TokenReply: Codable, Equatable, Sendable {
    /// A bearer token for `Authorization`. A secret.
    package var accessToken: String
    package var tokenType: String
    /// The lifetime of the access token in seconds.
    package var expiresIn: Int64
    /// The credential for the next exchange. The previous credential is no longer valid. A secret.
    package var refreshToken: String
    package var userID: String
    package var scope: String

    package init(
        accessToken: String,
        expiresIn: Int64,
        refreshToken: String,
        userID: String,
        scope: String
    ) {
        self.accessToken = accessToken
        self.tokenType = "Bearer"
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
        self.userID = userID
        self.scope = scope
    }

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case scope
        case tokenType = "token_type"
        case userID = "user_id"
    }
}
