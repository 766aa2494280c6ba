package import GotchuCore

/// The answer to `GET /wallet/me`: the caller's balance and the newest entries, newest first.
package struct WalletReply: Codable, Equatable, Sendable {
    package var walletID: String
    package var availableCents: WireInteger
    package var currency: Currency?
    package var recent: [WalletEntry]

    package init(
        walletID: String,
        availableCents: WireInteger,
        currency: Currency?,
        recent: [WalletEntry]
    ) {
        self.walletID = walletID
        self.availableCents = availableCents
        self.currency = currency
        self.recent = recent
    }

    /// The amount in the wallet; in `usd` if the server names no currency.
    package var available: Money {
        Money(minorUnits: availableCents.value, currency: currency ?? .usd)
    }

    enum CodingKeys: String, CodingKey {
        case availableCents = "available_cents"
        case currency, recent
        case walletID = "wallet_id"
    }
}

/// One line of a wallet's history.
package struct WalletEntry: Codable, Equatable, Sendable {
    package var id: String
    /// The kind of the entry, such as `SEND_P2P`, `RECEIVE_P2P`, `SEND_REFUND`, `RECEIVE_REFUND` or
    /// `DEV_OPENING`.
    package var type: String
    package var direction: EntryDirection
    /// The amount, always positive. `direction` says if it was added or taken.
    package var amountCents: WireInteger
    /// The tip's part of the amount; absent if its session allows none.
    package var tipCents: WireInteger?
    package var currency: Currency?
    package var memo: String?
    package var createdAt: Timestamp

    package init(
        id: String,
        type: String,
        direction: EntryDirection,
        amountCents: WireInteger,
        tipCents: WireInteger?,
        currency: Currency?,
        memo: String?,
        createdAt: Timestamp
    ) {
        self.id = id
        self.type = type
        self.direction = direction
        self.amountCents = amountCents
        self.tipCents = tipCents
        self.currency = currency
        self.memo = memo
        self.createdAt = createdAt
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case createdAt = "created_at"
        case currency, direction, id, memo
        case tipCents = "tip_cents"
        case type
    }
}

/// The direction of an entry: out of the wallet, or into it.
package enum EntryDirection: String, Codable, Sendable {
    case debit = "DEBIT"
    case credit = "CREDIT"
}
