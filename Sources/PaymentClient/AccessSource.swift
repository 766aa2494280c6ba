/// Where a client gets the token for its next call.
package protocol AccessSource: Sendable {
    /// What to send now.
    func access() async -> Access

    /// What to send instead of a token that the server has refused.
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

/// What a call carries to say who makes it.
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
