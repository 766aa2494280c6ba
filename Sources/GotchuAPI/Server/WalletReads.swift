package import GotchuCore

/// The answer to `GET /api/wallet/balance`, and the data of each event of `/api/wallet/events`.
package struct BalanceReply: Codable, Equatable, Sendable {
    package var walletID: String
    package var userID: String
    package var balanceCents: WireInteger
    package var currency: Currency
    /// The time of the newest entry.
    package var lastUpdated: WireTime
    /// The newest entry, if any; only in events.
    package var newest: WalletTransaction?
    /// The time at which gotchud received the event; only in gotchud's own events.
    package var asOf: Timestamp?

    package init(
        walletID: String,
        userID: String,
        balanceCents: WireInteger,
        currency: Currency,
        lastUpdated: Timestamp
    ) {
        self.walletID = walletID
        self.userID = userID
        self.balanceCents = balanceCents
        self.currency = currency
        self.lastUpdated = WireTime(lastUpdated)
    }

    enum CodingKeys: String, CodingKey {
        case asOf = "as_of"
        case balanceCents = "balance_cents"
        case currency
        case lastUpdated = "last_updated"
        case newest
        case userID = "user_id"
        case walletID = "wallet_id"
    }
}

/// The answer to `GET /api/wallet/transactions`, newest first.
package struct TransactionsReply: Codable, Equatable, Sendable {
    package var transactions: [WalletTransaction]
    package var totalCount: Int64
    /// The page number; absent if a cursor was given.
    package var page: Int64?
    package var limit: Int
    package var totalPages: Int64
    /// The cursor for the next page; absent if there is none.
    package var nextCursor: String?

    package init(
        transactions: [WalletTransaction],
        totalCount: Int64,
        page: Int64?,
        limit: Int,
        totalPages: Int64,
        nextCursor: String?
    ) {
        self.transactions = transactions
        self.totalCount = totalCount
        self.page = page
        self.limit = limit
        self.totalPages = totalPages
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case limit
        case nextCursor = "next_cursor"
        case page
        case totalCount = "total_count"
        case totalPages = "total_pages"
        case transactions
    }
}

/// One line of a wallet's history. The type is public API: no field may be removed or renamed.
package struct WalletTransaction: Codable, Equatable, Sendable {
    package var transactionID: String
    package var walletID: String
    package var userID: String
    package var type: Kind
    package var direction: EntryDirection
    /// The amount, always positive.
    package var amountCents: WireInteger
    /// The tip's part of the amount; absent if its session allows none.
    package var tipCents: WireInteger?
    package var currency: Currency
    package var memo: String?
    package var sessionID: SessionID?
    /// The contest that it belongs to, if any.
    package var contestID: String?
    package var createdAt: WireTime
    package var status = "confirmed"

    package init(
        transactionID: String,
        walletID: String,
        userID: String,
        type: Kind,
        direction: EntryDirection,
        amountCents: WireInteger,
        tipCents: WireInteger?,
        currency: Currency,
        memo: String?,
        sessionID: SessionID?,
        contestID: String? = nil,
        createdAt: Timestamp
    ) {
        self.contestID = contestID
        self.transactionID = transactionID
        self.walletID = walletID
        self.userID = userID
        self.type = type
        self.direction = direction
        self.amountCents = amountCents
        self.tipCents = tipCents
        self.currency = currency
        self.memo = memo
        self.sessionID = sessionID
        self.createdAt = WireTime(createdAt)
    }

    package enum Kind: String, Codable, Sendable {
        case deposit, debit, credit, refund
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case contestID = "contest_instance_id"
        case createdAt = "created_at"
        case currency, direction, memo
        case sessionID = "session_id"
        case status
        case tipCents = "tip_cents"
        case transactionID = "transaction_id"
        case type
        case userID = "user_id"
        case walletID = "wallet_id"
    }
}
