package import GotchuCore

/// `POST /v1/pairings/{id}`: pairs the till whose page shows this code.
package struct NewPairing: Codable, Equatable, Sendable {
    /// The name under which the till is listed and revoked.
    package var name: String
    /// The maximum sum of refunds per day, in minor units; without it, no refunds.
    package var refundsPerDayCents: Int64?

    package init(name: String, refundsPerDayCents: Int64? = nil) {
        self.name = name
        self.refundsPerDayCents = refundsPerDayCents
    }

    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        name = try fields.shortText("name", limit: 40) ?? ""
        refundsPerDayCents = try fields.integer("refunds_per_day_cents")
        try fields.rejectUnreadMembers()
        guard !name.isEmpty else { throw .invalid("name must have 1 to 40 characters.") }
        guard refundsPerDayCents.map(Money.allowedRequest.contains) ?? true else {
            throw .invalid(
                "refunds_per_day_cents must be 1 to \(Money.allowedRequest.upperBound)."
            )
        }
    }

    enum CodingKeys: String, CodingKey {
        case name
        case refundsPerDayCents = "refunds_per_day_cents"
    }
}

/// A paired till page.
package struct PairingView: Codable, Equatable, Sendable {
    package var name: String
    package var createdAt: Timestamp
    /// The maximum sum of refunds per day, in minor units; absent if it may refund nothing.
    package var refundsPerDayCents: Int64?
    /// The sum of today's refunds, in minor units; present if there is a limit.
    package var refundedTodayCents: Int64?

    package init(
        name: String,
        createdAt: Timestamp,
        refundsPerDayCents: Int64?,
        refundedTodayCents: Int64?
    ) {
        self.name = name
        self.createdAt = createdAt
        self.refundsPerDayCents = refundsPerDayCents
        self.refundedTodayCents = refundedTodayCents
    }

    enum CodingKeys: String, CodingKey {
        case name
        case createdAt = "created_at"
        case refundsPerDayCents = "refunds_per_day_cents"
        case refundedTodayCents = "refunded_today_cents"
    }
}

/// `GET /v1/pairings`: the paired tills, by name.
package struct PairingsReply: Codable, Equatable, Sendable {
    package var pairings: [PairingView]

    package init(pairings: [PairingView]) {
        self.pairings = pairings
    }
}

/// The answer to a page that asks to be paired: the code that the page shows, and the secret with
/// which it polls for the outcome.
package struct PairingOffer: Codable, Equatable, Sendable {
    package var code: String
    package var ticket: String

    package init(code: String, ticket: String) {
        self.code = code
        self.ticket = ticket
    }
}

/// The outcome of a page's pairing.
package struct PairingOutcome: Codable, Equatable, Sendable {
    package var state: State
    /// The bearer token for the till's calls, only with `paired`. It is sent only once.
    package var token: String?

    package init(state: State, token: String? = nil) {
        self.state = state
        self.token = token
    }

    package enum State: String, Codable, Sendable {
        case waiting, paired
        /// The code has expired. The page needs a new code.
        case expired
    }
}
