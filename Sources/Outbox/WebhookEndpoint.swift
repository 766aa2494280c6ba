package import GotchuCore
package import Ledger
package import LedgerStore

/// An address of a merchant's system to which events are posted.
package struct WebhookEndpoint: Equatable, Sendable {
    /// The maximum number of endpoints. Each endpoint is queried separately.
    package static let limit: Int64 = 32
    /// The reason why an endpoint that is being removed receives nothing.
    static let removal = "It is being removed."

    package let id: String
    package let url: String
    /// The owner of the records whose events it receives; `nil` for those of all owners.
    package let owner: UserID?
    package let createdAt: Timestamp
    /// The reason why it is disabled; `nil` if it is enabled.
    package let disabled: String?
    package let pendingCount: Int64
    package let deadCount: Int64
    /// A Boolean that is true once its removal has begun, even if the removal was interrupted.
    package var isBeingRemoved: Bool { disabled == Self.removal }

    package init(
        id: String,
        url: String,
        owner: UserID?,
        createdAt: Timestamp,
        disabled: String? = nil,
        pendingCount: Int64 = 0,
        deadCount: Int64 = 0
    ) {
        self.id = id
        self.url = url
        self.owner = owner
        self.createdAt = createdAt
        self.disabled = disabled
        self.pendingCount = pendingCount
        self.deadCount = deadCount
    }
}

/// An event that is being delivered to an endpoint.
package struct WebhookDelivery: Equatable, Sendable {
    /// The endpoint and the event.
    package struct ID: Hashable, Sendable {
        package let endpoint: String
        package let event: String
    }

    package let id: ID
    /// The number of attempts, this one included.
    package let attempt: Int64
    package let kind: String
    package let record: RecordID
    package let owner: UserID
    package let at: Timestamp
    /// The amount that moved with the event, in minor units, if the record does not contain it.
    package let amount: Int64?
    /// The record's body right after the event.
    package let body: String
    /// The deadline of the delivery: an attempt that fails after it is not repeated.
    package let giveUpAt: Timestamp
    package let url: String
    package let secret: [UInt8]

    /// A Boolean that is true if the previous attempt did not end and the deadline has passed. The
    /// delivery is then given up without another attempt.
    package var isGivenUp: Bool { giveUpAt.milliseconds == 0 }

    /// A finished attempt.
    package struct FinishedAttempt: Equatable, Sendable {
        package let id: ID
        package let attempt: Int64
        package let outcome: Outcome

        package init(id: ID, attempt: Int64, outcome: Outcome) {
            self.id = id
            self.attempt = attempt
            self.outcome = outcome
        }
    }

    /// The outcome of an attempt.
    package enum Outcome: Equatable, Sendable {
        case delivered
        case failed(String, nextTryAt: Timestamp)
        /// The delivery is given up.
        case dead(String)
        /// The endpoint asked for no more events.
        case gone(String)
    }
}

/// A delivery in a listing.
package struct WebhookBacklogEntry: Equatable, Sendable {
    package let id: WebhookDelivery.ID
    package let kind: String
    package let record: String
    package let attempts: Int64
    package let nextTryAt: Timestamp
    package let error: String?
}

extension WebhookEndpoint: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            id: try row.text(0),
            url: try row.text(1),
            owner: try row.optionalText(2).map(UserID.init(trusted:)),
            createdAt: try row.time(3),
            disabled: try row.optionalText(4),
            pendingCount: try row.integer(5),
            deadCount: try row.integer(6)
        )
    }
}

extension WebhookBacklogEntry: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            id: WebhookDelivery.ID(endpoint: try row.text(0), event: try row.text(1)),
            kind: try row.text(2),
            record: try row.text(3),
            attempts: try row.integer(4),
            nextTryAt: try row.time(5),
            error: try row.optionalText(6)
        )
    }
}
