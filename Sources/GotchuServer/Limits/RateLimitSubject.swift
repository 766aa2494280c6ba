internal import Ledger

/// The subject that the EIDs of a request are counted for: an address, or the login of a token.
enum RateLimitSubject: Hashable, Sendable {
    case address(ClientAddress)
    case login(Login)
    /// A login's machine that resolves by itself (`Priority: u=7`, RFC 9218). Its misses are
    /// counted apart: strangers' EIDs near it never keep the person's own requests from being
    /// answered.
    case background(Login)
}
