internal import Ledger

/// The subject that unknown EIDs are counted for: an address, or the login of a token.
enum RateLimitSubject: Hashable, Sendable {
    case address(ClientAddress)
    case login(Login)
    /// A login's machine that resolves without a person (`Priority: u=7`, RFC 9218). Its misses are
    /// counted apart: strangers' EIDs nearby never keep the person's own requests from being
    /// answered.
    case background(Login)
}
