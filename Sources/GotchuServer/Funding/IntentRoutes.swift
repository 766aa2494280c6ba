internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger

/// The routes with which payers deposit money.
struct IntentRoutes: Sendable {
    static let defaultLimit: Int64 = 25

    let funding: FundingOperations
    let authentication: CallerAuthentication

    @Sendable func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        try Self.checkNamedUser(request, is: user)
        _ = try funding.source(for: user)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let amount = try amount(&fields)
        let reference = try reference(&fields)
        let name = try fields.string("presentation") ?? Presentation.clientSecret.rawValue
        try fields.rejectUnreadMembers()
        guard let presentation = Presentation(rawValue: name) else {
            throw Problem.invalid("presentation must be client_secret or hosted.")
        }
        let fingerprint = Fingerprint.deposit(amount, reference: reference, presentation)
        let (reply, secret) = try await funding.open(
            amount,
            reference: reference,
            presentation: presentation,
            as: KeyedRequest(user, key, fingerprint, context)
        )
        return try await Reply.answer(reply) { id in
            try Reply.buffered(try await funding.intentReply(id, of: user, secret))
        }
    }

    /// Refuses a request whose `X-User-Id` names another user. The token alone says who calls.
    /// Other routes ignore the header, because proxies use its name for their own purposes.
    private static func checkNamedUser(_ request: Request, is user: UserID) throws(Problem) {
        let id = user.rawValue
        // Phones write UUIDs in upper case.
        let isOther = request.headers[values: .userID].contains { name in
            name.utf8.count != id.utf8.count || name.lowercased() != id.lowercased()
        }
        guard !isOther else {
            throw Problem(.forbidden, detail: "X-User-Id is not the token's user.")
        }
    }

    /// Reads the payer's reference. A contest's id is one, too.
    private func reference(_ fields: inout JSONFields) throws(Problem) -> String? {
        let limit = SessionRoutes.maximumTextLength
        let reference = try fields.shortText("reference", limit: limit)
        let contest = try fields.parsed("contest_instance_id", "a UUID") { $0.uuid }
        guard let contest else { return reference }
        guard reference == nil || reference == contest else {
            throw .invalid("reference and contest_instance_id are different: send one of them.")
        }
        return contest
    }

    private func amount(_ fields: inout JSONFields) throws(Problem) -> Money {
        let cents = try fields.requiredInteger("amount_cents")
        let least = funding.options.depositMinimum
        guard cents >= least, Money.allowedRequest.contains(cents) else {
            throw .invalid(FundingOperations.amountRule(atLeast: least))
        }
        guard
            try fields.string("currency") ?? FundingOperations.currency.rawValue
                == FundingOperations.currency.rawValue
        else { throw .invalid("currency must be \(FundingOperations.currency.rawValue).") }
        return Money(minorUnits: cents, currency: FundingOperations.currency)
    }

    @Sendable func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        _ = try funding.source(for: user)
        let page = try FundingPage(request)
        let deposits: [Deposit] = try await funding.newest(of: user, page)
        return try Reply.json(
            IntentsReply(
                paymentIntents: deposits.map { IntentReply($0) },
                nextCursor: page.cursor(after: deposits)
            )
        )
    }

    @Sendable func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        let id = try FundingPage.id(in: context)
        let deposit = try await funding.refreshed(try await funding.subject(id, of: user))
        return try Reply.json(IntentReply(deposit))
    }

    @Sendable func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        let id = try FundingPage.id(in: context)
        return try Reply.json(IntentReply(try await funding.cancelDeposit(id, of: user)))
    }
}

/// A page of a list of deposits or withdrawals.
struct FundingPage: Sendable {
    let before: RecordID?
    let limit: Int

    /// - Parameter before: The last record of the previous page; `nil` for the first page.
    init(before: RecordID? = nil, limit: Int) {
        self.before = before
        self.limit = limit
    }

    /// - Throws: A problem: 400 for a malformed cursor.
    init(cursor: String?, limit: Int) throws(Problem) {
        guard cursor?.isUUID ?? true else {
            throw .invalid("The cursor is none of this list's.")
        }
        self.init(before: cursor.map(RecordID.init(trusted:)), limit: limit)
    }

    /// - Throws: A problem: 400 for a malformed cursor or limit, or an unknown parameter.
    init(_ request: Request) throws(Problem) {
        var query = try QueryParameters(request)
        let limit = try query.integer("limit", in: 1...HistoryRoutes.largestLimit)
        let cursor = query.text("cursor")
        try query.end()
        try self.init(cursor: cursor, limit: Int(limit ?? IntentRoutes.defaultLimit))
    }

    func cursor<Body>(after subjects: [FundingRecord<Body>]) -> String? {
        subjects.count == limit ? subjects.last?.id.rawValue : nil
    }

    /// Returns the record id in the path.
    static func id(in context: ServerContext) throws -> RecordID {
        guard let text = context.parameters.get("id")?.uuid else {
            throw Refusal(.unknownRecord).problem
        }
        return RecordID(trusted: text)
    }
}
