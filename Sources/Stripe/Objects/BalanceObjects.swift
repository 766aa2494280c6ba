package import GotchuCore

/// One line of a balance's history.
package struct BalanceTransaction: StripeObject, Identified {
    package static let kind = "balance_transaction"

    package let id: String
    /// Before the fee, in minor units.
    package let amount: Int64
    package let fee: Int64
    /// The change of the balance.
    package let net: Int64
    package let currency: String
    package let type: String
    package let source: Expandable<LineSource>?
    @UnixTime package var created: Timestamp
}

/// The object that changed a balance.
package struct LineSource: StripeObject, Identified {
    package static let kind = ""

    package let id: String
    /// The payment that a charge belongs to.
    package let paymentIntent: Expandable<AnyStripeObject>?

    enum CodingKeys: String, CodingKey {
        case id
        case paymentIntent = "payment_intent"
    }
}

/// The balance of a Stripe account.
package struct StripeBalance: StripeObject {
    package static let kind = "balance"

    /// An amount in one currency.
    package struct Amount: Decodable, Sendable {
        package let amount: Int64
        package let currency: String
    }

    package let available: [Amount]
    package let pending: [Amount]
    package let reserved: [Amount]?

    enum CodingKeys: String, CodingKey {
        case available, pending
        case reserved = "connect_reserved"
    }
}

/// An event at Stripe. Only its ids are read: they say which object to refresh.
package struct StripeEvent: StripeObject, Identified {
    package static let kind = "event"

    /// The object that the event is about.
    package struct Subject: Decodable, Sendable {
        /// The id; `nil` for an `account` object without one.
        package let id: String?
        package let kind: String
        /// The payment that a charge, a refund, a dispute or a checkout belongs to.
        package let paymentIntent: String?
        package let metadata: [String: String]

        private enum CodingKeys: String, CodingKey {
            case id, metadata
            case kind = "object"
            case paymentIntent = "payment_intent"
        }

        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try? values.decodeIfPresent(String.self, forKey: .id)
            kind = try values.decode(String.self, forKey: .kind)
            let intent = try? values.decodeIfPresent(
                Expandable<AnyStripeObject>.self,
                forKey: .paymentIntent
            )
            paymentIntent = intent?.id
            // An old payload may have another format: the object itself is read from Stripe.
            metadata = (try? values.metadata(.metadata)) ?? [:]
        }
    }

    package let id: String
    package let type: String
    package let isLive: Bool
    @UnixTime package var created: Timestamp
    /// The connected account where it happened; `nil` for the platform.
    package let account: String?
    private let data: Payload

    package var subject: Subject { data.object }

    private enum CodingKeys: String, CodingKey {
        case id, type, created, account, data
        case isLive = "livemode"
    }

    private struct Payload: Decodable, Sendable {
        let object: Subject
    }

    /// Parses the body of a webhook request.
    package init?(_ body: [UInt8]) {
        guard let event: StripeEvent = StripeClient.decode(body) else { return nil }
        self = event
    }
}
