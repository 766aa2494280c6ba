internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// The routes by which payers fill their wallets.
struct IntentRoutes: Sendable {
    static let usualLimit: Int64 = 25

    let desk: FundingDesk
    let authentication: CallerAuthentication

    @Sendable func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        _ = try desk.source(for: user)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let amount = try amount(&fields)
        let reference = try fields.shortText("reference", limit: SessionRoutes.longestText)
        let name = try fields.string("presentation") ?? Presentation.clientSecret.rawValue
        try fields.end()
        guard let presentation = Presentation(rawValue: name) else {
            throw Problem.invalid("presentation must be client_secret or hosted.")
        }
        let (reply, secret) = try await desk.open(
            amount,
            reference: reference,
            presentation: presentation,
            as: KeyedRequest(
                user: user,
                key: key,
                fingerprint: .deposit(amount, reference: reference, presentation),
                id: context.requestID
            )
        )
        return try await Reply.record(reply) { id in
            try await self.made(id, of: user, secret)
        }
    }

    private func amount(_ fields: inout JSONFields) throws(Problem) -> Money {
        let cents = try fields.requiredInteger("amount_cents")
        let least = desk.options.depositMinimum
        guard cents >= least, Money.allowedRequest.contains(cents) else {
            throw .invalid("amount_cents must be at least \(least).")
        }
        guard
            try fields.string("currency") ?? FundingDesk.currency.rawValue
                == FundingDesk.currency.rawValue
        else { throw .invalid("currency must be \(FundingDesk.currency.rawValue).") }
        return Money(minorUnits: cents, currency: FundingDesk.currency)
    }

    /// The intent as it is now, with what only its payer may see.
    private func made(
        _ id: RecordID,
        of user: UserID,
        _ secret: String?
    ) async throws -> IntentReply {
        let deposit = try await desk.deposit(id, of: user)
        var reply = IntentReply(deposit)
        guard let work = desk.work else { return reply }
        switch deposit.state {
        case .created: throw Problem.providerUnavailable.retry(after: 2)
        case .failed:
            throw Problem(
                .providerRefused,
                detail: "The payment provider refused this: "
                    + "\(deposit.body.error?.message ?? "it gives no reason"). Nothing was charged."
            )
        case .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            guard let secret else { throw Problem.providerUnavailable.retry(after: 2) }
            switch deposit.body.presentation {
            case .clientSecret:
                reply.clientSecret = secret
                reply.publishableKey = work.publishableKey
            case .hosted: reply.checkoutURL = secret
            }
        case .processing, .succeeded, .canceled, .held: break
        }
        return reply
    }

    @Sendable func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        _ = try desk.source(for: user)
        let page = try FundingPage(request)
        let records = try await desk.ledger.records(
            of: user,
            kind: DepositBody.kind,
            before: page.before,
            limit: page.limit
        )
        return try Reply.json(
            IntentsReply(
                paymentIntents: try records.map { IntentReply(try Deposit($0)) },
                nextCursor: page.cursor(after: records)
            )
        )
    }

    @Sendable func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        _ = try desk.source(for: user)
        let id = try FundingPage.id(in: context)
        let deposit = try await desk.deposit(id, of: user)
        guard deposit.isToBeLookedAt(at: desk.ledger.now), let work = desk.work else {
            return try Reply.json(IntentReply(deposit))
        }
        _ = await work.drive(id)
        return try Reply.json(IntentReply(try await desk.deposit(id, of: user)))
    }

    @Sendable func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        _ = try desk.source(for: user)
        let id = try FundingPage.id(in: context)
        var deposit = try await desk.ledger.submit(CancelDeposit(id, user: user)).accepted()
        if deposit.state != .canceled, let work = desk.work {
            _ = await work.drive(id)
            deposit = try await desk.deposit(id, of: user)
        }
        switch deposit.state {
        case .canceled: return try Reply.json(IntentReply(deposit))
        case .succeeded, .failed, .held, .processing: throw Refusal(.intentSettled).problem
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            throw Problem.providerUnavailable.retry(after: 2)
        }
    }
}

/// A page of a list of deposits or withdrawals.
struct FundingPage: Sendable {
    let before: RecordID?
    let limit: Int

    /// - Throws: A problem: 400 for what is no cursor or limit, or is unknown.
    init(_ request: Request) throws(Problem) {
        var query = try QueryParameters(request)
        limit = Int(
            try query.integer("limit", in: 1...HistoryRoutes.largestLimit)
                ?? IntentRoutes.usualLimit
        )
        let text = query.text("cursor")
        try query.end()
        guard text.map(Self.isID) ?? true else {
            throw .invalid("The cursor is none of this list's.")
        }
        before = text.map(RecordID.init(trusted:))
    }

    func cursor(after records: [Record]) -> String? {
        records.count == limit ? records.last?.id.rawValue : nil
    }

    /// The record that the address names.
    static func id(in context: ServerContext) throws -> RecordID {
        guard let text = context.parameters.get("id"), isID(text) else {
            throw Refusal(.unknownRecord).problem
        }
        return RecordID(trusted: text)
    }

    /// Returns true for the form of a UUID.
    private static func isID(_ text: String) -> Bool {
        text.utf8.count == 36
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension Reply {
    /// Renders the reply to a command whose outcome is a record: the record as it is now.
    static func record(
        _ reply: CommandReply<RecordID>,
        status: HTTPResponse.Status = .ok,
        _ rendered: (RecordID) async throws -> some Encodable
    ) async throws -> Response {
        guard case .success(let id) = reply.outcome else {
            return try answer(reply) { _ in preconditionFailure("it is a refusal") }
        }
        return try json(
            try await rendered(id),
            status: status,
            headers: reply.isReplay ? [.idempotentReplayed: "true"] : [:]
        )
    }
}
