/// A source of tokens for a client's calls.
package protocol AccessSource: Sendable {
    /// Returns the access for the next call.
    func access() async -> Access

    /// Returns another access after the server has refused a token.
    func access(insteadOf refused: String) async -> Access

    /// Told what the server made of a login.
    ///
    /// - Parameter token: What was sent; `nil` if there was nothing to send.
    func note(isTaken: Bool, token: String?)
}

/// One token, and no other in its place.
package struct GivenToken: AccessSource {
    private let token: String

    package init(_ token: String) {
        self.token = token
    }

    package func access() async -> Access { .bearer(token) }

    package func access(insteadOf refused: String) async -> Access { .none }

    package func note(isTaken: Bool, token: String?) {}
}

/// The authorization that a call carries.
package enum Access: Equatable, Sendable {
    /// Nothing: nobody is logged in.
    case none
    /// A bearer token.
    case bearer(String)
    /// There should be a token, and the server could not be asked for it: the call is not made.
    case outage(Outage)
}

/// For the calls that anybody may make.
struct NoAccess: AccessSource {
    func access() async -> Access { .none }

    func access(insteadOf refused: String) async -> Access { .none }

    func note(isTaken: Bool, token: String?) {}
}
