/// The reason why the outcome of an open payment or refund is not known yet.
package enum UnresolvedReason: Equatable, Sendable {
    /// The server did not answer, or gave no definite answer.
    case noAnswer
    /// The server refuses for a reason that says nothing about the payment.
    case refused(Decline)
    /// The server does not accept the login any more.
    case unauthorized(Decline)
    /// Writing to the journal failed. The next step waits until a write succeeds.
    case journal
    /// Another user is logged in: nothing is sent on behalf of the payment's user.
    case otherLogin
    /// Another payment server is configured: nothing is sent there.
    case otherServer

    /// The server's refusal, if that is the reason.
    package var refusal: Decline? {
        switch self {
        case .noAnswer, .journal, .otherLogin, .otherServer: nil
        case .refused(let refusal), .unauthorized(let refusal): refusal
        }
    }

    /// A Boolean that is true if the outcome may become known without a person's help.
    package var resolvesAutomatically: Bool { self == .noAnswer || self == .journal }
}
