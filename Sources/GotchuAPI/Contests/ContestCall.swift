package import GotchuCore

/// A contest call that the daemon passes on to the payment server.
package struct ContestCall: Sendable {
    package var method: ContestAction.Method
    /// The path below `/api/contests`, with its query.
    package var path: String
    /// The type of the document in the reply; `nil` if there is none.
    package var document: (any ContestDocument.Type)?
    package var body: [UInt8]?
    package var key: IdempotencyKey?
    /// The caller's `Accept-Language`.
    package var language: String?
    /// The entity tag of the caller's copy of the document, sent as `If-None-Match`.
    package var knownTag: String?

    package init(
        _ method: ContestAction.Method,
        _ path: String,
        document: (any ContestDocument.Type)?
    ) {
        self.method = method
        self.path = path
        self.document = document
    }

    /// The headers of the call, the same on the socket and at the payment server.
    package var headers: [(String, String)] {
        [
            (IdempotencyHeader.key, key?.rawValue), ("Accept-Language", language),
            ("If-None-Match", knownTag),
        ].compactMap { name, value in value.map { (name, $0) } }
    }
}

/// The payment server's reply to a contest call, unchanged.
package struct ContestAnswer: Sendable {
    /// The document; `nil` if the reply has none or the caller's copy is current.
    package var bytes: [UInt8]?
    package var tag: String?
    /// A Boolean that is true if the server repeats the reply that it stored under the call's key.
    package var isReplay: Bool

    package init(bytes: [UInt8]?, tag: String?, isReplay: Bool) {
        self.bytes = bytes
        self.tag = tag
        self.isReplay = isReplay
    }
}

/// `POST /v1/contests/{id}/join`: enters a contest.
package struct NewContestEntry: Encodable, Equatable, Sendable {
    package var contest: WireUUID
    /// The fee that the person saw, in minor units.
    package var feeCents: Int64
    /// The invitation to a private contest.
    package var invitation: String?
    /// The language of the reply; not a part of the entry, so it is not encoded.
    package var language: String?

    /// - Throws: A problem: 400 for an invalid body.
    package init(
        _ contest: WireUUID,
        _ fields: JSONFields,
        language: String?
    ) throws(Problem) {
        var fields = fields
        self.contest = contest
        self.language = language
        feeCents = try fields.requiredInteger("entry_fee_cents")
        invitation = try fields.shortText("join_token", limit: 64)
        let usesWallet = try fields.boolean("use_wallet") ?? true
        try fields.rejectUnreadMembers()
        guard feeCents >= 0 else { throw .invalid("entry_fee_cents must not be negative.") }
        guard usesWallet else {
            throw .invalid(
                "An entry is paid from the wallet: put money into it first "
                    + "(POST /v1/wallet/deposits), then join with use_wallet true."
            )
        }
    }

    enum CodingKeys: String, CodingKey {
        case contest
        case feeCents = "entry_fee_cents"
        case invitation = "join_token"
    }
}
