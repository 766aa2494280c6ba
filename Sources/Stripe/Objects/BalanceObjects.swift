package import GotchuCore

/// One line of the history of a balance.
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

/// The object that has changed a balance.
package struct LineSource: StripeObject, Identified {
    package static let kind = ""

    package let id: String
    /// The payment of a charge.
    package let paymentIntent: Expandable<AnyStripeObject>?

    enum CodingKeys: String, CodingKey {
        case id
        case paymentIntent = "payment_intent"
    }
}

/// An account's money at Stripe.
package struct StripeBalance: StripeObject {
    package static let kind = "balance"

    /// An amount of one currency.
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

/// Something that happened at Stripe. Only its ids are read: it says where to look.
package struct StripeEvent: StripeObject, Identified {
    package static let kind = "event"

    /// The object that it is about.
    package struct Subject: Decodable, Sendable {
        /// `account` for one that has no id of its own.
        package let id: String?
        package let kind: String
        /// The payment of a charge, a refund, a dispute or a checkout.
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
            // An old payload's shape decides nothing: the object itself is read.
            metadata = (try? values.metadata(.metadata)) ?? [:]
        }
    }

    package let id: String
    package let type: String
    package let isLive: Bool
    package let created: Timestamp
    /// The connected account that it happened at; `nil` for the platform.
    package let account: String?
    package let subject: Subject

    private enum CodingKeys: String, CodingKey {
        case id, type, created, account, data
        case isLive = "livemode"
    }

    private struct Payload: Decodable {
        let object: Subject
    }

    /// Parses what a webhook brings.
    package init?(_ body: [UInt8]) {
        guard let event: StripeEvent = StripeClient.decode(body) else { return nil }
        self = event
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        type = try values.decode(String.self, forKey: .type)
        isLive = try values.decode(Bool.self, forKey: .isLive)
        created = try values.decode(UnixTime.self, forKey: .created).wrappedValue
        account = try values.decodeIfPresent(String.self, forKey: .account)
        subject = try values.decode(Payload.self, forKey: .data).object
    }
}
