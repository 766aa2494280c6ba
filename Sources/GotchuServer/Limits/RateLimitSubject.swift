internal import Ledger

/// The subject for which unknown EIDs are counted: an address, or the login of a token.
enum RateLimitSubject: Hashable, Sendable {
    case address(ClientAddress)
    case login(Login)
    /// A login's device that resolves without a person (`Priority: u=7`, RFC 9218). Its misses are
    /// counted separately, so that unknown EIDs nearby never block the person's own requests.
    case background(Login)
}
