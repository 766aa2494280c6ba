package import GotchuCore

/// Where a merchant's systems want to be told.
package struct WebhookEndpoint: Equatable, Sendable {
    /// How many there may be: each is asked for work by itself.
    package static let limit: Int64 = 32
    /// The reason why nothing is sent to one that is being removed.
    static let removal = "It is being removed."

    package let id: String
    package let url: String
    /// Whose sessions; everybody's if nobody is named.
    package let payee: UserID?
    package let createdAt: Timestamp
    /// Why nothing is sent there any more, if so.
    package let disabled: String?
    package let pendingCount: Int64
    package let deadCount: Int64
    /// A Boolean that is true from the beginning of its removal on, also if that was cut short.
    package var isBeingRemoved: Bool { disabled == Self.removal }

    package init(
        id: String,
        url: String,
        payee: UserID?,
        createdAt: Timestamp,
        disabled: String? = nil,
        pendingCount: Int64 = 0,
        deadCount: Int64 = 0
    ) {
        self.id = id
        self.url = url
        self.payee = payee
        self.createdAt = createdAt
        self.disabled = disabled
        self.pendingCount = pendingCount
        self.deadCount = deadCount
    }
}
