/// The answer to `GET /auth/login`.
package struct LoginReply: Codable, Equatable, Sendable {
    package var userID: String

    package init(userID: String) {
        self.userID = userID
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
    }
}

/// The answer to `POST /auth/dev-login`.
package struct DevLoginReply: Codable, Equatable, Sendable {
    /// A bearer token for `Authorization`. A secret.
    package var token: String
    package var userID: String

    package init(token: String, userID: String) {
        self.token = token
        self.userID = userID
    }

    enum CodingKeys: String, CodingKey {
        case token
        case userID = "user_id"
    }
}
