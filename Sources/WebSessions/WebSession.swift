package import GotchuCore
package import Ledger

/// A person's login in one browser.
///
/// Only the hash of its token is stored, so that nobody who reads the database can act for a user.
package struct WebSession: Equatable, Sendable {
    /// The time after which a person has to log in again.
    package static let lifetime: Duration = .seconds(12 * 60 * 60)
    /// The time without a request after which a person has to log in again.
    static let idleTimeout: Duration = .seconds(30 * 60)
    /// The shortest time between two writes of `usedAt`: one per minute is enough.
    static let touchInterval: Duration = .seconds(60)

    /// SHA-256 of its token.
    package let id: [UInt8]
    /// The user it acts for; never changes.
    package let user: UserID
    /// The user's name, for pages.
    package let userName: String
    /// Its scopes, in the format of a token's `scope`.
    package let scopes: String
    /// The time of the login at the identity issuer; `nil` if the issuer does not report it.
    package let authenticatedAt: Timestamp?
    package let usedAt: Timestamp
    package let expiresAt: Timestamp
    /// The time of the logout.
    package let endedAt: Timestamp?

    package init(
        id: [UInt8],
        user: UserID,
        userName: String,
        scopes: String,
        authenticatedAt: Timestamp?,
        usedAt: Timestamp,
        expiresAt: Timestamp,
        endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.user = user
        self.userName = userName
        self.scopes = scopes
        self.authenticatedAt = authenticatedAt
        self.usedAt = usedAt
        self.expiresAt = expiresAt
        self.endedAt = endedAt
    }

    /// Returns true if the session is neither ended nor expired.
    func isValid(at time: Timestamp) -> Bool {
        endedAt == nil && time < expiresAt && time < usedAt.advanced(by: Self.idleTimeout)
    }
}
