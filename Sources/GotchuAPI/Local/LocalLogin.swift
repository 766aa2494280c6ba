/// `POST /v1/login`: either a token or an e-mail address for a development server.
package struct LocalLogin: Codable, Equatable, Sendable {
    /// A bearer token of the payment server. A secret: it is sent over the daemon's socket only.
    package var token: String?
    /// The e-mail address for which a development server issues a token.
    package var devEmail: String?

    package init(token: String? = nil, devEmail: String? = nil) {
        self.token = token
        self.devEmail = devEmail
    }

    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        token = try fields.string("token", limit: 16 * 1_024)
        devEmail = try fields.string("dev_email")
        try fields.rejectUnreadMembers()
    }

    enum CodingKeys: String, CodingKey {
        case token
        case devEmail = "dev_email"
    }
}
