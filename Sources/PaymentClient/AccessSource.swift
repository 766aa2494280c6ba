/// A source of tokens for a client's calls.
package protocol AccessSource: Sendable {
    /// Returns the access for the next call.
    func access() async -> Access

    /// Returns another access after the server has refused a token.
    func access(replacing refused: String) async -> Access

    /// Reports the server's answer to a login.
    ///
    /// - Parameter token: The token that was sent; `nil` if there was none.
    func report(isAccepted: Bool, token: String?)
}

/// A single token, with no replacement.
package struct GivenToken: AccessSource {
    private let token: String

    package init(_ token: String) {
        self.token = token
    }

    package func access() async -> Access { .bearer(token) }

    package func access(replacing refused: String) async -> Access { .none }

    package func report(isAccepted: Bool, token: String?) {}
}

/// The authorization that a call carries.
package enum Access: Equatable, Sendable {
    /// No authorization: nobody is logged in.
    case none
    /// A bearer token.
    case bearer(String)
    /// A token is needed, but the server could not be asked for one: the call is not made.
    case outage(Outage)
}

/// The source for calls without authorization.
struct NoAccess: AccessSource {
    func access() async -> Access { .none }

    func access(replacing refused: String) async -> Access { .none }

    func report(isAccepted: Bool, token: String?) {}
}
