internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments

/// The routes of sessions: payees create them; payers resolve and lock them.
struct SessionRoutes: Sendable {
    static let maximumTextLength = 140

    let authentication: CallerAuthentication
    /// The largest number of open sessions of one payee.
    let liveLimit: Int
    /// The origin of the payer's pages; `nil` without pages.
    let publicURL: String?
    let funding: FundingOperations
    /// The contests for which desks can be opened; `nil` without contests.
    let contests: ContestRoutes?

    var ledger: Ledger { funding.ledger }

    @Sendable func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        var fields = try await request.fields()
        let kind = try fields.string("kind")
        if kind == Desk.name, let contests, contests.options.users.contains(payee) {
            return try reply(await openDesk(of: payee, contests.reader, fields))
        }
        let amount = try Self.amount(&fields)
        let memo = try fields.shortText("memo", limit: Self.maximumTextLength)
        let seconds = try fields.integer("ttl_seconds")
        let reference = try fields.shortText("payee_reference", limit: Self.maximumTextLength)
        let allowsTip = try fields.boolean("allows_tip") ?? false
        let split = try Self.split(&fields, kind, of: amount, allowsTip: allowsTip)
        try fields.rejectUnreadMembers()
        let lifetime = try Self.lifetime(
            seconds,
            in: split == nil ? Session.allowedSeconds : Split.allowedSeconds
        )
        try await funding.requireOnboarded(payee)
        let created: CreatedSession
        if let split {
            created = try await ledger.submit(
                CreateGroup(
                    purpose: Split.name,
                    payee: payee,
                    currency: amount.currency,
                    shares: split.shares,
                    isAllOrNothing: split.isAllOrNothing,
                    memo: memo,
                    reference: reference,
                    lifetime: lifetime,
                    liveLimit: liveLimit,
                    defaultTakeBasisPoints: funding.options.takeBasisPoints
                )
            ).accepted()
        } else {
            created = try await ledger.submit(
                CreateSession(
                    payee: payee,
                    amount: amount,
                    memo: memo,
                    reference: reference,
                    lifetime: lifetime,
                    allowsTip: allowsTip,
                    liveLimit: liveLimit,
                    defaultTakeBasisPoints: funding.options.takeBasisPoints
                )
            ).accepted()
        }
        return try reply(created)
    }

    private func reply(_ created: CreatedSession) throws -> Response {
        try Reply.json(
            CreateSessionReply(
                sid: created.session.id,
                eid: created.session.eid,
                expiresAt: created.session.expiresAt,
                payee: PayeeDisplay(name: created.payeeName),
                publicURL: publicURL
            )
        )
    }

    /// Returns the lifetime of a session.
    ///
    /// - Parameter seconds: The seconds that the caller requests; `nil` for the longest lifetime of
    ///   a session with one payer.
    /// - Throws: A problem: 400 if the number is not allowed.
    static func lifetime(
        _ seconds: Int64?,
        in allowed: ClosedRange<Int>
    ) throws(Problem) -> Duration {
        let seconds = seconds ?? Int64(Session.allowedSeconds.upperBound)
        guard let seconds = Int(exactly: seconds), allowed.contains(seconds) else {
            throw .invalid("ttl_seconds must be from 1 to \(allowed.upperBound).")
        }
        return .seconds(seconds)
    }

    /// Parses the shares of a split; `nil` for a session with one payer.
    ///
    /// - Throws: A problem: 400 if the members contradict each other or are not allowed.
    private static func split(
        _ fields: inout JSONFields,
        _ kind: String?,
        of amount: Money,
        allowsTip: Bool
    ) throws(Problem) -> (shares: [Int64], isAllOrNothing: Bool)? {
        let count = try fields.integer("shares")
        let own = try fields.integers("share_cents", limit: Split.allowedShares.upperBound)
        let isAllOrNothing = try fields.boolean("is_all_or_nothing")
        guard let kind else {
            guard count == nil, own == nil, isAllOrNothing != true else {
                throw .invalid("shares, share_cents and is_all_or_nothing belong to kind split.")
            }
            return nil
        }
        guard kind == Split.name else { throw .invalid("kind must be split, or be left out.") }
        guard !allowsTip else { throw .invalid("A split allows no tip.") }
        guard (count == nil) != (own == nil) else {
            throw .invalid("A split has either shares or share_cents.")
        }
        guard Split.allowedShares.contains(own?.count ?? count.flatMap(Int.init(exactly:)) ?? 0)
        else { throw .invalid("A split has 2 to 50 shares.") }
        let shares = own ?? Allocation.equalShares(of: amount.minorUnits, count: Int(count ?? 1))
        guard shares.allSatisfy(Money.allowedRequest.contains),
            shares.reduce(0, +) == amount.minorUnits
        else {
            throw .invalid(
                "Each share must be at least the smallest amount, and together they must be the "
                    + "whole amount."
            )
        }
        return (shares, isAllOrNothing ?? false)
    }

    private static func amount(_ fields: inout JSONFields) throws(Problem) -> Money {
        let cents = try fields.requiredInteger("amount_cents")
        guard Money.allowedRequest.contains(cents) else {
            throw .invalid("amount_cents must be from 1 to 100000000.")
        }
        return Money(minorUnits: cents, currency: try fields.currency("currency") ?? .usd)
    }

    /// Resolves an EID. It needs no token, because anyone nearby may see the request. The reply has
    /// no address and no user id.
    @Sendable func resolve(_ request: Request, _ context: ServerContext) async throws -> Response {
        let subject = try await authentication.subject(of: request, context)
        var fields = try await request.fields()
        let text = try fields.string("eid")
        let proximity = try fields.string("proximity")
        try fields.rejectUnreadMembers()
        guard proximity == nil || proximity.flatMap(PayerProximity.init) != nil else {
            throw Problem.invalid("proximity must be tap.")
        }
        guard let eid = text.flatMap({ EID($0) }) else {
            throw Problem.invalid("eid must be 10 hex characters.")
        }
        guard let published = try await ledger.published(eid) else {
            authentication.limits.countMiss(by: subject)
            throw Problem(.notFound, detail: "There is no request with this EID.")
        }
        let session = published.session
        if let reason = session.finalReason { throw Refusal(reason).problem }
        if proximity != nil { await notifyPayee(published, of: request) }
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
                allowsTip: session.tip.map { _ in true },
                places: session.figures.map(Places.init),
                contest: try await contest(enteredAt: session)
            )
        )
    }

    /// Notifies the payee's watchers that a payer's device is at the till. Requires a payer's
    /// token, because unknown callers must not trigger it. Does nothing if the caller is the payee
    /// or the session is not advertised.
    private func notifyPayee(_ published: PublishedSession, of request: Request) async {
        guard case .advertising = published.session.state,
            let payer = try? await authentication.tokens.login(of: request, needing: .payer),
            payer.user != published.session.payee
        else { return }
        await ledger.notice(published.record)
    }

    @Sendable func lock(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await authentication.user(of: request, needing: .payer)
        var fields = try await request.fields()
        let sid = try fields.sessionID("sid")
        let place = try fields.integer("place")
        let expected = try fields.integer("expected_amount_cents")
        try fields.rejectUnreadMembers()
        guard expected.map(Money.allowedRequest.contains) ?? true else {
            throw Problem.invalid("expected_amount_cents must be from 1 to 100000000.")
        }
        guard place.map({ $0 > 0 }) ?? true else {
            throw Problem.invalid("place must be 1 or more.")
        }
        let session = try await ledger.submit(
            LockSession(
                session: sid,
                payer: payer,
                place: place,
                expectedAmount: expected,
                purposes: .all
            )
        ).accepted()
        return try Reply.json(LockReply(session))
    }

    @Sendable func unlock(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payer = try await authentication.user(of: request, needing: .payer)
        let sid = try Self.session(in: context)
        _ = try await ledger.submit(
            UnlockSession(session: sid, payer: payer, purposes: .all)
        ).accepted()
        return try Reply.json(LockReply(ok: true, lockExpiresAt: nil))
    }

    @Sendable func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        let sid = try Self.session(in: context)
        let session = try await ledger.submit(CancelSession(session: sid, payee: payee))
            .accepted()
        return try await reply(session)
    }

    @Sendable func rotate(_ request: Request, _ context: ServerContext) async throws -> Response {
        let payee = try await authentication.user(of: request, needing: .payee)
        let sid = try Self.session(in: context)
        var fields = try await request.fields()
        let replaced = try fields.eid("replaces")
        try fields.rejectUnreadMembers()
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
            .accepted()
        return try await reply(session)
    }

    private func reply(_ session: Session) async throws -> Response {
        var reply = SessionReply(session)
        reply.contest = try await contest(enteredAt: session)
        return try Reply.json(reply)
    }

    private func contest(enteredAt session: Session) async throws -> DeskContest? {
        try await ledger.contest(enteredAt: session).map { DeskContest($0, at: ledger.now) }
    }

    /// Returns the session id in the path; throws 404 if it is malformed.
    static func session(in context: ServerContext) throws -> SessionID {
        guard let sid = context.parameters.get("sid").flatMap({ SessionID(rawValue: $0) }) else {
            throw Refusal(.unknownSession).problem
        }
        return sid
    }
}
