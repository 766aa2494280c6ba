internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// The caller's wallet: reading it, and spending from it.
struct WalletRoutes: Sendable {
    static let sendPath = "/wallet/send"
    static let recentEntries = 20

    let ledger: Ledger
    let callers: Callers

    @Sendable func me(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await callers.user(of: request)
        let found = try await ledger.statement(of: user, entries: Self.recentEntries)
        guard let statement = found else { throw Problem.unknownUser }
        return try Reply.json(
            WalletReply(
                walletID: statement.wallet.id.rawValue,
                availableCents: WireInteger(statement.wallet.balance),
                currency: statement.wallet.currency,
                recent: statement.entries.map(WalletEntry.init)
            )
        )
    }

    @Sendable func send(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await callers.user(of: request, needing: .payer)
        let key = SendKey(user: payer, key: try request.idempotencyKey())
        let send = try Self.payment(key, try await request.fields(), context.requestID)
        return try Self.reply(to: await ledger.send(send).accepted()).response
    }

    /// What the members of a body ask to be paid.
    static func payment(
        _ key: SendKey,
        _ fields: consuming JSONFields,
        _ requestID: String
    ) throws -> Send {
        let sid = try fields.sessionID("sid")
        let expected = try fields.integer("expected_amount_cents")
        try fields.end()
        return Send(
            key: key,
            fingerprint: Fingerprint(call: "POST \(sendPath)", sid, expected),
            session: sid,
            expectedAmount: expected,
            requestID: requestID
        )
    }

    /// What became of a payment. Asked for a key that nothing was decided on, 404: the payment may
    /// then be sent again with that key.
    @Sendable func outcome(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await callers.user(of: request, needing: .payer)
        let text = context.parameters.get("key").flatMap(percentDecoded) ?? ""
        guard let key = IdempotencyKey(header: text) else { throw Problem.malformedKey }
        guard let send = try await ledger.send(SendKey(user: payer, key: key)) else {
            throw Problem(
                .notFound,
                detail: "Nothing was decided under this key.",
                retryable: true
            )
        }
        return try Reply.json(SendOutcomeReply(send))
    }

    /// The remembered answer, made into the same bytes each time.
    static func reply(to answer: SendAnswer) throws -> WholeReply {
        let headers: HTTPFields = answer.isReplay ? [.idempotentReplayed: "true"] : [:]
        switch answer.send.outcome {
        case .paid(let transfer, let newBalance):
            return Reply.paid(transfer, newBalance: newBalance, headers: headers)
        case .declined(let refusal):
            var problem = refusal.problem
            problem.requestID = answer.send.requestID
            return try Reply.problem(problem, headers: headers)
        }
    }
}
