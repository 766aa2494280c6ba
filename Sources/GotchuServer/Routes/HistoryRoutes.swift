internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// The caller's wallet for third-party programs: its balance, and its history in pages.
struct HistoryRoutes: Sendable {
    static let defaultLimit: Int64 = 25
    static let largestLimit: Int64 = 100
    static let largestPage: Int64 = 1_000_000_000
    private static let currency = Currency.usd

    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func balance(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request)
        try QueryParameters(request).end()
        return try Reply.json(BalanceReply(try await history(of: user, .newest).account))
    }

    @Sendable func transactions(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let user = try await authentication.user(of: request)
        var query = try QueryParameters(request)
        let page = try query.integer("page", in: 1...Self.largestPage)
        let limit = try query.integer("limit", in: 1...Self.largestLimit) ?? Self.defaultLimit
        let cursor = query.text("cursor")
        try query.end()
        if let cursor {
            guard page == nil else {
                throw Problem.invalid("Name either a page or a cursor, not both.")
            }
            return try await follow(cursor, of: user, limit: limit)
        }
        let number = page ?? 1
        let range = HistoryRange(
            .newest(skipping: (number - 1) * limit),
            limit: Int(limit)
        )
        return try Self.reply(try await history(of: user, range), page: number, limit: limit)
    }

    /// Returns the page after a cursor. Reads the wallet first, to check the cursor against it.
    private func follow(
        _ text: String,
        of user: UserID,
        limit: Int64
    ) async throws -> Response {
        let account = try await history(of: user, .newest).account
        guard let cursor = HistoryCursor(text, of: account) else {
            throw Problem.invalid("The cursor is none of this wallet's.")
        }
        let range = HistoryRange(.before(cursor.number), limit: Int(limit))
        return try Self.reply(try await history(of: user, range), page: nil, limit: limit)
    }

    private func history(
        of user: UserID,
        _ range: HistoryRange
    ) async throws -> AccountHistory {
        let found = try await ledger.history(
            of: Account.Key(.user(user), Self.currency),
            range
        )
        guard let found else {
            throw Problem(.notFound, detail: "This user has no wallet here.")
        }
        return found
    }

    private static func reply(
        _ history: AccountHistory,
        page: Int64?,
        limit: Int64
    ) throws -> Response {
        let count = history.account.entryCount
        let last = history.entries.last?.entry.number ?? 1
        return try Reply.json(
            TransactionsReply(
                transactions: try history.entries.map {
                    try WalletTransaction($0.entry, $0.record, in: history.account)
                },
                totalCount: count,
                page: page,
                limit: Int(limit),
                totalPages: (count + limit - 1) / limit,
                nextCursor: last > 1 ? HistoryCursor(after: last).text(for: history.account) : nil
            )
        )
    }
}

extension BalanceReply {
    init(_ account: Account) {
        self.init(
            walletID: account.id,
            userID: account.key.owner.rawValue,
            balanceCents: WireInteger(account.balance),
            currency: account.currency,
            lastUpdated: account.changedAt
        )
    }
}

extension WalletTransaction {
    /// Creates a transaction for the user's programs. It has no idempotency key and no request id.
    init(_ entry: Entry, _ record: Record?, in account: Account) throws {
        let kind = try TransferKind.of(entry)
        let session = try record?.session
        self.init(
            transactionID: entry.transfer.id,
            walletID: account.id,
            userID: account.key.owner.rawValue,
            type: Kind(entry.isDebit ? kind.debit : kind.credit),
            direction: entry.isDebit ? .debit : .credit,
            amountCents: WireInteger(abs(entry.amount)),
            tipCents: session?.tip(in: entry).map(WireInteger.init),
            currency: entry.account.currency,
            memo: try session?.memo ?? record?.contestTitle,
            sessionID: session?.id,
            contestID: record?.contestID,
            createdAt: entry.at
        )
    }
}

extension WalletTransaction.Kind {
    fileprivate init(_ face: TransferKind.Face) {
        switch face {
        case .deposit: self = .deposit
        case .debit: self = .debit
        case .credit: self = .credit
        case .refund: self = .refund
        }
    }
}
