package import GotchuCore

/// A Stripe account: a payee's, or the platform's own.
package struct ConnectedAccount: StripeObject, Identified {
    package static let kind = "account"

    package enum Capability: String, StripeEnum {
        case active, inactive, pending
        case unknown = ""
    }

    package let id: String
    package let isChargesEnabled: Bool
    package let isPayoutsEnabled: Bool
    package let isDetailsSubmitted: Bool
    /// The capability to receive transfers.
    package let transfers: Capability?
    package let currentlyDue: [String]
    package let pastDue: [String]
    package let disabledReason: String?
    package let currentDeadline: Timestamp?
    /// The default currency of payouts, in three lower-case letters. The account may have bank
    /// accounts for other currencies.
    package let defaultCurrency: String?
    package let metadata: [String: String]

    private enum CodingKeys: String, CodingKey {
        case id, capabilities, requirements, metadata
        case chargesEnabled = "charges_enabled"
        case defaultCurrency = "default_currency"
        case payoutsEnabled = "payouts_enabled"
        case detailsSubmitted = "details_submitted"
    }

    private struct Capabilities: Decodable {
        let transfers: Capability?
    }

    private struct Requirements: Decodable {
        let currently_due: [String]?
        let past_due: [String]?
        let disabled_reason: String?
        let current_deadline: UnixTime?
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        isChargesEnabled = try values.decodeIfPresent(Bool.self, forKey: .chargesEnabled) ?? false
        isPayoutsEnabled = try values.decodeIfPresent(Bool.self, forKey: .payoutsEnabled) ?? false
        isDetailsSubmitted =
            try values.decodeIfPresent(Bool.self, forKey: .detailsSubmitted) ?? false
        transfers = try values.decodeIfPresent(Capabilities.self, forKey: .capabilities)?.transfers
        let wanted = try values.decodeIfPresent(Requirements.self, forKey: .requirements)
        currentlyDue = wanted?.currently_due ?? []
        pastDue = wanted?.past_due ?? []
        disabledReason = wanted?.disabled_reason
        currentDeadline = wanted?.current_deadline?.wrappedValue
        defaultCurrency = try values.decodeIfPresent(String.self, forKey: .defaultCurrency)
        metadata = try values.metadata(.metadata)
    }
}

/// A link to the pages on which payees identify themselves.
package struct AccountLink: StripeObject {
    package static let kind = "account_link"

    /// The URL works once. Never stored, never logged.
    package let url: String
    @UnixTime package var expiresAt: Timestamp

    private enum CodingKeys: String, CodingKey {
        case url
        case expiresAt = "expires_at"
    }
}

/// A link to a payee's dashboard after onboarding (docs.stripe.com/api/accounts/login_link).
package struct LoginLink: StripeObject {
    package static let kind = "login_link"

    /// The URL works once. Never stored, never logged.
    let url: String
    @UnixTime var created: Timestamp
}

extension AccountLink {
    /// The time for which a login link is assumed to be valid. Stripe says that it is short.
    private static let loginLife: Duration = .seconds(60)

    /// Creates a link from a login link, which does not contain its expiry time.
    package init(_ link: LoginLink) {
        url = link.url
        _expiresAt = UnixTime(wrappedValue: link.created.advanced(by: Self.loginLife))
    }
}

/// A transfer of money from the platform's balance to a payee's account.
package struct StripeTransfer: StripeObject, Identified {
    package static let kind = "transfer"

    package let id: String
    package let amount: Int64
    package let currency: String
    package let destination: Expandable<AnyStripeObject>?
    @Metadata package var metadata: [String: String]
    @UnixTime package var created: Timestamp
    package let amountReversed: Int64
    /// The reversals of the transfer or of parts of it, newest first.
    package let reversals: StripeList<TransferReversal>

    private enum CodingKeys: String, CodingKey {
        case id, amount, currency, destination, metadata, created, reversals
        case amountReversed = "amount_reversed"
    }
}

/// A reversal of a transfer or of a part of it.
package struct TransferReversal: StripeObject, Identified {
    package static let kind = "transfer_reversal"

    package let id: String
    package let amount: Int64
}

/// A payout from a payee's account to their bank.
package struct StripePayout: StripeObject, Identified {
    package static let kind = "payout"

    /// The state of a payout. A paid one may still fail for some days.
    package enum Status: String, StripeEnum {
        case pending, paid, failed, canceled
        case inTransit = "in_transit"
        case unknown = ""
    }

    package let id: String
    package let amount: Int64
    package let currency: String
    package let status: Status
    @UnixTime package var arrivalDate: Timestamp
    package let failureCode: String?
    package let failureMessage: String?
    /// The payout that reversed this one.
    package let reversedBy: Expandable<AnyStripeObject>?
    @Metadata package var metadata: [String: String]

    enum CodingKeys: String, CodingKey {
        case id, amount, currency, status, metadata
        case arrivalDate = "arrival_date"
        case failureCode = "failure_code"
        case failureMessage = "failure_message"
        case reversedBy = "reversed_by"
    }
}
