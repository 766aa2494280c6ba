internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// The caller's wallet as other people's programs read it: its balance, and its history in pages.
struct HistoryRoutes: Sendable {
    static let usualLimit: Int64 = 25
    static let largestLimit: Int64 = 100
    static let largestPage: Int64 = 1_000_000_000
    private static let currency = Currency.usd

    let ledger: Ledger
    let callers: Callers

    @Sendable func balance(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await callers.user(of: request)
        try QueryParameters(request).end()
        let history = try await history(of: user, .init(.newest(skipping: 0), limit: 1))
        return try Reply.json(
            BalanceReply(
                walletID: history.wallet.id.rawValue,
                userID: user.rawValue,
                balanceCents: WireInteger(history.wallet.balance),
                currency: history.wallet.currency,
                lastUpdated: history.entries.first?.createdAt ?? history.openedAt
            )
        )
    }

    @Sendable func transactions(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let user = try await callers.user(of: request)
        var query = try QueryParameters(request)
        let page = try query.integer("page", in: 1...Self.largestPage)
        let limit = try query.integer("limit", in: 1...Self.largestLimit) ?? Self.usualLimit
        let cursor = query.text("cursor")
        try query.end()
        if let cursor {
            guard page == nil else {
                throw Problem.invalid("Name either a page or a cursor, not both.")
            }
            return try await follow(cursor, of: user, limit: limit)
        }
        let number = page ?? 1
        let range = WalletHistory.Range(
            .newest(skipping: (number - 1) * limit),
            limit: Int(limit)
        )
        return try Self.reply(try await history(of: user, range), page: number, limit: limit)
    }

    /// The wallet is read first: without it nobody can say whether the cursor is one of its own.
    private func follow(
        _ text: String,
        of user: UserID,
        limit: Int64
    ) async throws -> Response {
        let wallet = try await history(of: user, .init(.newest(skipping: 0), limit: 1)).wallet
        guard let cursor = HistoryCursor(text, of: wallet) else {
            throw Problem.invalid("The cursor is none of this wallet's.")
        }
        let range = WalletHistory.Range(.after(cursor.number), limit: Int(limit))
        return try Self.reply(try await history(of: user, range), page: nil, limit: limit)
    }

    private func history(
        of user: UserID,
        _ range: WalletHistory.Range
    ) async throws -> WalletHistory {
        let found = try await ledger.history(of: user, in: Self.currency, range)
        guard let found else {
            throw Problem(.notFound, detail: "This user has no wallet here.")
        }
        return found
    }

    private static func reply(
        _ history: WalletHistory,
        page: Int64?,
        limit: Int64
    ) throws -> Response {
        let count = history.wallet.entryCount
        let last = history.entries.last?.number ?? 1
        return try Reply.json(
            TransactionsReply(
                transactions: history.entries.map { WalletTransaction($0, in: history.wallet) },
                totalCount: count,
                page: page,
                limit: Int(limit),
                totalPages: (count + limit - 1) / limit,
                nextCursor: last > 1 ? HistoryCursor(after: last).text(for: history.wallet) : nil
            )
        )
    }
}

extension WalletTransaction {
    /// What a person's program may see of an entry, and nothing else: no idempotency key, no name
    /// of a request.
    fileprivate init(_ entry: WalletHistory.Entry, in wallet: Wallet) {
        let isDebit = entry.amount.minorUnits < 0
        let type: Kind =
            switch entry.kind {
            case .payment: isDebit ? .debit : .credit
            case .refund: .refund
            case .developmentOpening: .deposit
            }
        self.init(
            transactionID: entry.transfer.rawValue,
            walletID: wallet.id.rawValue,
            userID: wallet.user?.rawValue ?? "",
            type: type,
            direction: isDebit ? .debit : .credit,
            amountCents: WireInteger(abs(entry.amount.minorUnits)),
            currency: entry.amount.currency,
            memo: entry.memo,
            sessionID: entry.session,
            createdAt: entry.createdAt
        )
    }
}
