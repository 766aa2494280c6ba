internal import Ledger

/// The subject whose look-ups and misses are counted: an address, or the login of a token.
enum RateLimitSubject: Hashable, Sendable {
    case address(ClientAddress)
    case login(Login)
    /// A login's device that makes look-ups without a person (`Priority: u=7`, RFC 9218). Its
    /// misses are counted separately. Unknown EIDs nearby thus never block the person's own
    /// requests.
    case background(Login)
}
