/// The reason why the end of an open payment or refund is not known yet.
package enum UnresolvedReason: Equatable, Sendable {
    /// The server did not answer, or said nothing definite.
    case noAnswer
    /// The server answers with something that says nothing about the payment.
    case refused(Decline)
    /// The server does not accept the login any more.
    case unauthorized(Decline)
    /// The next step cannot be journalled, and is not done before it is.
    case journal
    /// Another user is logged in: nothing is sent in the first one's name.
    case otherLogin
    /// Another payment server is configured: nothing is sent there.
    case otherServer

    /// The server's words, if they are the reason.
    package var refusal: Decline? {
        switch self {
        case .noAnswer, .journal, .otherLogin, .otherServer: nil
        case .refused(let refusal), .unauthorized(let refusal): refusal
        }
    }

    /// A Boolean that is false if a person is needed.
    package var endsByItself: Bool { self == .noAnswer || self == .journal }
}
