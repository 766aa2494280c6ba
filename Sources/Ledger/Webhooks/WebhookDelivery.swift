package import GotchuCore

/// One event on its way to one endpoint.
package struct WebhookDelivery: Equatable, Sendable {
    /// Whom and what it is for.
    package struct Name: Hashable, Sendable {
        package let endpoint: String
        package let event: String

        package init(endpoint: String, event: String) {
            self.endpoint = endpoint
            self.event = event
        }
    }

    package let name: Name
    /// How often it was tried, this time included.
    package let attempt: Int64
    package let kind: SessionEvent.Kind
    package let session: Session
    package let at: Timestamp
    /// With `refunded`: how much went back, and how much in all by then, in minor units.
    package let refund: Int64?
    package let refunded: Int64
    /// The time of the last try: one that fails from then on is not made again.
    package let giveUpAt: Timestamp
    /// A Boolean that is true for a claim after the last try, at the end of its time, never ended.
    package var isOver: Bool { giveUpAt.milliseconds == 0 }
    package let url: String
    package let secret: [UInt8]

    /// A try that is over.
    package struct Ended: Equatable, Sendable {
        package let name: Name
        package let attempt: Int64
        package let outcome: Outcome

        package init(name: Name, attempt: Int64, outcome: Outcome) {
            self.name = name
            self.attempt = attempt
            self.outcome = outcome
        }
    }

    /// What became of one try.
    package enum Outcome: Equatable, Sendable {
        case delivered
        case failed(String, nextTryAt: Timestamp)
        /// Not to be tried again.
        case dead(String)
        /// The endpoint wants nothing any more.
        case gone(String)
    }
}

/// A delivery as it is listed.
package struct WebhookBacklogEntry: Equatable, Sendable {
    package let name: WebhookDelivery.Name
    package let kind: String
    package let session: String
    package let attempts: Int64
    package let nextTryAt: Timestamp
    package let error: String?
}
