internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// The routes of sessions: payees create them, payers find and lock them.
struct SessionRoutes: Sendable {
    static let longestText = 140

    let ledger: Ledger
    let authentication: CallerAuthentication
    /// The sessions of one payee that may be open at once.
    let liveLimit: Int
    /// The origin of the payer's pages, if there are any.
    let publicURL: String?
    let desk: FundingDesk

    @Sendable func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        var fields = try await request.fields()
        let amount = try Self.amount(&fields)
        let memo = try fields.shortText("memo", limit: Self.longestText)
        let seconds = try fields.integer("ttl_seconds")
        let reference = try fields.shortText("payee_reference", limit: Self.longestText)
        let allowsTip = try fields.boolean("allows_tip") ?? false
        try fields.end()
        let lifetime = seconds ?? Int64(Session.allowedSeconds.upperBound)
        guard let lifetime = Int(exactly: lifetime), Session.allowedSeconds.contains(lifetime)
        else { throw Problem.invalid("ttl_seconds must be from 1 to 300.") }
        try await desk.requireOnboarded(payee)
        let session = try await ledger.submit(
            CreateSession(
                payee: payee,
                amount: amount,
                memo: memo,
                reference: reference,
                lifetime: .seconds(lifetime),
                allowsTip: allowsTip,
                liveLimit: liveLimit,
                usualTake: desk.options.takeBasisPoints
            )
        ).accepted()
        // What payers will see. The session is made, whether or not this can be read.
        let published = try? await ledger.published(session.eid)
        return try Reply.json(
            CreateSessionReply(
                sid: session.id,
                eid: session.eid,
                expiresAt: session.expiresAt,
                payee: published.map { PayeeDisplay(name: $0.payeeName) },
                publicURL: publicURL
            )
        )
    }

    private static func amount(_ fields: inout JSONFields) throws(Problem) -> Money {
        guard let cents = try fields.integer("amount_cents") else {
            throw .invalid("amount_cents is missing.")
        }
        guard Money.allowedRequest.contains(cents) else {
            throw .invalid("amount_cents must be from 1 to 100000000.")
        }
        guard let name = try fields.string("currency") else { return Money(minorUnits: cents) }
        guard let currency = Currency(rawValue: name) else {
            throw .invalid("currency must be a known ISO 4217 code in lower case.")
        }
        return Money(minorUnits: cents, currency: currency)
    }

    /// Resolves an EID. Public: anybody nearby may see the request. Never an address or a user's
    /// id.
    @Sendable func resolve(_ request: Request, _ context: ServerContext) async throws -> Response {
        let subject = try await authentication.subject(of: request, context)
        var fields = try await request.fields()
        let text = try fields.string("eid")
        let proximity = try fields.string("proximity")
        try fields.end()
        guard proximity == nil || proximity.flatMap(PayerProximity.init) != nil else {
            throw Problem.invalid("proximity must be tap.")
        }
        guard let eid = text.flatMap({ EID($0) }) else {
            throw Problem.invalid("eid must be 10 hex characters.")
        }
        guard let published = try await ledger.published(eid) else {
            authentication.limits.missed(by: subject)
            throw Problem(.notFound, detail: "There is no request with this EID.")
        }
        let session = published.session
        if let reason = session.finalReason { throw Refusal(reason).problem }
        if proximity != nil { await notice(session, of: request) }
        return try Reply.json(
            ResolveReply(
                sid: session.id,
                amountCents: WireInteger(session.amount.minorUnits),
                payee: PayeeDisplay(name: published.payeeName),
                payeeID: session.payee.publicID,
                currency: session.amount.currency,
                memo: session.memo,
                expiresAt: session.expiresAt,
                status: session.status,
                allowsTip: session.tip.map { _ in true }
            )
        )
    }

    /// Tells the payee's watchers that a payer's device is at the payee's. Without a payer's token
    /// it does nothing: a stranger would light up screens.
    private func notice(_ session: Session, of request: Request) async {
        guard case .advertising = session.state,
            let payer = try? await authentication.tokens.login(of: request, needing: .payer),
            payer.user != session.payee
        else { return }
        await ledger.notice(session.record)
    }

    @Sendable func lock(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await authentication.user(of: request, needing: .payer)
        var fields = try await request.fields()
        let sid = try fields.sessionID("sid")
        try fields.end()
        let session = try await ledger.submit(LockSession(session: sid, payer: payer)).accepted()
        return try Reply.json(LockReply(ok: true, lockExpiresAt: session.lockExpiresAt))
    }

    @Sendable func unlock(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await authentication.user(of: request, needing: .payer)
        let sid = try Self.session(in: context)
        _ = try await ledger.submit(UnlockSession(session: sid, payer: payer)).accepted()
        return try Reply.json(LockReply(ok: true, lockExpiresAt: nil))
    }

    @Sendable func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        let sid = try Self.session(in: context)
        let session = try await ledger.submit(CancelSession(session: sid, payee: payee))
            .accepted()
        return try Reply.json(SessionReply(session))
    }

    @Sendable func rotate(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        let sid = try Self.session(in: context)
        var fields = try await request.fields()
        let replaced = try fields.eid("replaces")
        try fields.end()
        let rotation = try await ledger.submit(
            RotateEID(session: sid, payee: payee, replaced: replaced)
        ).accepted()
        return try Reply.json(
            RotateEIDReply(
                eid: rotation.session.eid,
                expiresAt: rotation.session.expiresAt,
                replacedEID: rotation.replaced,
                replacedUntil: rotation.replacedUntil
            )
        )
    }

    @Sendable func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request)
        let session = try await ledger.session(Self.session(in: context), visibleTo: user)
        return try Reply.json(SessionReply(session.accepted()))
    }

    /// The session that the address names.
    static func session(in context: ServerContext) throws -> SessionID {
        guard let sid = context.parameters.get("sid").flatMap({ SessionID(rawValue: $0) }) else {
            throw Refusal(.unknownSession).problem
        }
        return sid
    }
}
