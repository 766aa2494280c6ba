package import GotchuCore

/// Somebody who can log in.
package struct User: Equatable, Sendable {
    package let id: UserID
    /// What names him at login, see `OpenWallet`; unique.
    package let email: String
    /// What a payer is shown.
    package let displayName: String
    package let createdAt: Timestamp

    package init(id: UserID, email: String, displayName: String, createdAt: Timestamp) {
        self.id = id
        self.email = email
        self.displayName = displayName
        self.createdAt = createdAt
    }
}
