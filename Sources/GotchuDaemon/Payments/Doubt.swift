import GotchuCore

/// Why it is not known yet how an open payment or refund ends.
enum Doubt: Equatable, Sendable {
    /// The server did not answer, or said nothing definite.
    case noAnswer
    /// The server answers, and with something that says nothing about the payment.
    case refused(Decline)
    /// The server does not accept the login any more.
    case unauthorized(Decline)
    /// The next step cannot be journalled, and is not done before it is.
    case journal
    /// Another user is logged in: nothing is sent in his name.
    case otherLogin
    /// Another payment server is configured: nothing is sent there.
    case otherServer

    /// What an answer leaves open; `nil` if it is definite.
    init?(_ answer: PaymentAnswer) {
        switch answer {
        case .done: return nil
        case .refused(let refusal, _): self = .refused(refusal)
        case .unauthorized(let refusal): self = .unauthorized(refusal)
        case .unknown: self = .noAnswer
        }
    }

    /// What the server said, if that is what is wrong.
    var refusal: Decline? {
        switch self {
        case .noAnswer, .journal, .otherLogin, .otherServer: nil
        case .refused(let refusal), .unauthorized(let refusal): refusal
        }
    }

    /// Whether it ends by itself: the others need a person.
    var endsByItself: Bool { self == .noAnswer || self == .journal }
}
