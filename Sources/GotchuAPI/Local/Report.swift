package import GotchuCore

/// `GET /v1/report`: a day's payments and refunds of the wallet, from the payment server.
package struct ReportReply: Codable, Equatable, Sendable {
    /// The date, in `zone`.
    package var day: String
    package var zone: String
    package var currency: Currency
    /// The time at which the payment server computed the sums.
    package var asOf: Timestamp
    package var counts: EarningsCounts
    /// The payments minus the refunds.
    package var keptCents: Int64
    /// All hours of the day: 23, 24 or 25 when clocks change.
    package var hours: [EarningsPart]
    /// Requests and refunds of this machine with an unknown outcome. They may be missing in the
    /// sums.
    package var unknown: [UnknownItem]

    package init(
        day: String,
        zone: String,
        currency: Currency,
        asOf: Timestamp,
        counts: EarningsCounts,
        hours: [EarningsPart],
        unknown: [UnknownItem]
    ) {
        self.day = day
        self.zone = zone
        self.currency = currency
        self.asOf = asOf
        self.counts = counts
        keptCents = counts.keptCents
        self.hours = hours
        self.unknown = unknown
    }

    /// A request or a refund whose outcome is not known.
    package struct UnknownItem: Codable, Equatable, Sendable {
        package var kind: Kind
        package var id: String
        package var amountCents: Int64
        package var currency: Currency
        package var memo: String?
        package var createdAt: Timestamp

        package init(
            kind: Kind,
            id: String,
            amountCents: Int64,
            currency: Currency,
            memo: String?,
            createdAt: Timestamp
        ) {
            self.kind = kind
            self.id = id
            self.amountCents = amountCents
            self.currency = currency
            self.memo = memo
            self.createdAt = createdAt
        }

        package enum Kind: String, Codable, Sendable {
            case request, refund
        }

        enum CodingKeys: String, CodingKey {
            case kind, id, currency, memo
            case amountCents = "amount_cents"
            case createdAt = "created_at"
        }
    }

    enum CodingKeys: String, CodingKey {
        case day, zone, currency, counts, hours, unknown
        case asOf = "as_of"
        case keptCents = "kept_cents"
    }
}
