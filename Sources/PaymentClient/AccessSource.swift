/// A source of tokens for a client's calls.
package protocol AccessSource: Sendable {
    /// Returns the access for the next call.
    func access() async -> Access

    /// Returns the access after the server has refused a token; `.none` if there is no other token.
    func access(replacing refused: String) async -> Access

    /// Records that the server has accepted or refused a login.
    ///
    /// - Parameter token: The token that was sent; `nil` if none was sent.
    func report(isAccepted: Bool, token: String?)
}

/// A source with one token, or none, and no replacement.
package struct GivenToken: AccessSource {
    private let token: String?

    package init(_ token: String?) {
        self.token = token
    }

    package func access() async -> Access {
        if let token { .bearer(token) } else { .none }
    }

    package func access(replacing refused: String) async -> Access { .none }

    package func report(isAccepted: Bool, token: String?) {}
}

/// The authorization that a call carries.
package enum Access: Equatable, Sendable {
    /// No authorization: nobody is logged in.
    case none
    case bearer(String)
    /// The token could not be fetched from the server. The call is not made.
    case outage(Outage)
}
