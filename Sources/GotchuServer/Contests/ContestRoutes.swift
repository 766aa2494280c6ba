internal import Contests
internal import Crypto
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// The settings of contests.
struct ContestOptions: Sendable {
    /// The house's part of an organiser's rake, in basis points. It is copied into each new
    /// contest.
    var commissionBPS: Int64 = 0
    /// The users to whom contests are shown.
    var users = UserAllowlist.everybody
    /// The server's address for browsers; `nil` without one.
    var origin: String?
}

/// The routes of contests. Reading is public; entrants and organisers make changes.
struct ContestRoutes: Sendable {
    let reader: ContestReader
    let authentication: CallerAuthentication
    let options: ContestOptions
    let metrics: ContestMetrics

    init(
        _ options: ContestOptions,
        _ ledger: Ledger,
        _ authentication: CallerAuthentication
    ) {
        reader = ContestReader(ledger: ledger, authentication.limits.contestReads)
        self.authentication = authentication
        self.options = options
        metrics = ContestMetrics(reader)
    }

    var ledger: Ledger { reader.ledger }

    func register(on router: Router<ServerContext>) {
        router.get("/api/contests", use: described(HeavyReads.onPool(list)))
        router.post("/api/contests", use: described(create))
        for place in ["/api/contests", "/api/custom-contests"] {
            router.get("\(place)/:id", use: described(HeavyReads.onPool(show)))
            router.post("\(place)/:id/join", use: described(join))
        }
        router.get("/contests/openapi.yaml", use: OpenAPI.handler(of: OpenAPI.contests))
        router.get("/contest-assets/:name", use: image)
        router.delete("/api/contests/:id", use: described(delete))
        router.get("/api/contests/:id/leaderboard", use: described(HeavyReads.onPool(board)))
        router.get("/api/contests/:id/settlement", use: described(HeavyReads.onPool(settlement)))
        router.post("/api/contests/:id/leave", use: described(leave))
        router.post("/api/contests/:id/entries", use: described(enterRoster))
        router.post("/api/contests/:id/objections", use: described(object))
        router.post("/api/contests/:id/publish", use: described(publish))
        router.post("/api/contests/:id/lock", use: described(lock))
        router.post("/api/contests/:id/scores", use: described(score))
        router.post("/api/contests/:id/complete", use: described(complete))
        router.post("/api/contests/:id/dispute", use: described(dispute))
        router.post("/api/contests/:id/settle", use: described(settle))
        router.post("/api/contests/:id/cancel", use: described(cancel))
        router.post("/api/contests/:id/invite/renew", use: described(renewInvitation))
    }

    /// Wraps a handler: refuses users to whom contests are not shown, and adds the field names of
    /// the first clients to each problem.
    private func described(_ handler: @escaping WebGate.Handler) -> WebGate.Handler {
        { request, context in
            try await requireAvailable(to: await user(of: request), context)
            do {
                return try await handler(request, context)
            } catch let problem as Problem {
                throw problem.withContestFields
            } catch let refused as ProblemWithHeaders {
                throw ProblemWithHeaders(
                    problem: refused.problem.withContestFields,
                    headers: refused.headers
                )
            }
        }
    }

    /// Returns the caller. Returns `nil` without a valid login, or if contests are shown to
    /// everybody.
    private func user(of request: Request) async -> UserID? {
        guard !options.users.isUnrestricted else { return nil }
        return try? await authentication.tokens.login(of: request).user
    }

    /// Throws 404 if contests are shown only to some users and this user is not one of them. A user
    /// may always see a contest that they have entered, for example at a desk.
    ///
    /// - Parameters:
    ///   - user: The user; `nil` without a login.
    ///   - context: The context of a call that may concern a single contest.
    func requireAvailable(to user: UserID?, _ context: ServerContext? = nil) async throws {
        guard !options.users.isUnrestricted else { return }
        if let user {
            if options.users.contains(user) { return }
            if let id = context.flatMap({ try? Self.contest(in: $0) }) {
                // Count the call before any read for it.
                try authentication.limits.allowCall(by: Login(user: user))
                if try await ledger.entry(of: user, in: id) != nil { return }
            }
        }
        throw Problem(.notFound, detail: "There is no such address.")
    }

    /// Returns an image of a template by its name, which is the image's hash or a colour.
    @Sendable private func image(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        try authentication.limits.allowResolve(as: .address(context.client))
        guard let image = try await reader.image(context.parameters.get("name") ?? "") else {
            throw Problem(.notFound, detail: "There is nothing at this address.")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: image.type.mediaType,
                .cacheControl: "public, max-age=31536000, immutable",
                // An SVG that is opened directly must not run scripts.
                .known("Content-Security-Policy"): "default-src 'none'; sandbox",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: image.bytes))
        )
    }

    // MARK: Reading

    /// The viewer of a contest: the user (`nil` without a login) and the subject of rate limits.
    typealias Viewer = (user: UserID?, subject: RateLimitSubject)

    /// Returns the viewer of a request. Without a token the user is `nil`.
    func viewer(of request: Request, _ context: ServerContext) async throws -> Viewer {
        guard request.headers[.authorization] != nil else {
            return (nil, try await authentication.subject(of: request, context))
        }
        let login = try await authentication.login(of: request)
        return (login.user, .login(login))
    }

    /// Returns a contest that the viewer may see. The organiser and entrants always may. All others
    /// may if the contest is published and, for an invitation-only contest, the invitation is
    /// right. A wrong invitation is counted as a miss.
    ///
    /// - Throws: A problem: 404 if there is no such contest or the viewer may not see it.
    func visible(
        _ context: ServerContext,
        to viewer: Viewer,
        invitation: String? = nil
    ) async throws -> (contest: Contest, entry: ContestEntry?) {
        let id = try Self.contest(in: context)
        guard let contest = try await reader.contest(id) else { throw Problem.noContest }
        var entry: ContestEntry?
        if let user = viewer.user { entry = try await ledger.entry(of: user, in: id) }
        let isParty = viewer.user == contest.organizer || entry != nil
        guard !isParty else { return (contest, entry) }
        guard !contest.body.isDeleted, contest.state != .draft else { throw Problem.noContest }
        guard contest.admits(invitation) else {
            if invitation != nil { authentication.limits.countMiss(by: viewer.subject) }
            throw Problem.noContest
        }
        return (contest, entry)
    }

    @Sendable private func show(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let viewer = try await viewer(of: request, context)
        var query = try QueryParameters(request)
        let invitation = query.text("join_token")
        try query.end()
        let (contest, _) = try await visible(context, to: viewer, invitation: invitation)
        return try await reply(contest, to: viewer.user, request).unless(request)
    }

    @Sendable private func board(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let viewer = try await viewer(of: request, context)
        var query = try QueryParameters(request)
        let limit = try query.integer("limit", in: 1...ContestBoard.pageLimit)
        let start = try query.integer("cursor", in: 1...Contest.joinLimit)
        let invitation = query.text("join_token")
        try query.end()
        let (contest, _) = try await visible(context, to: viewer, invitation: invitation)
        let board = ContestBoard(
            view: try await view(of: contest, for: viewer.user, in: request.language),
            page: try await reader.board(
                of: contest,
                from: start ?? 0,
                limit: Int(limit ?? ContestBoard.defaultPageSize)
            )
        )
        return try Reply.json(board.leaderboard)
    }

    @Sendable private func settlement(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let login = try await authentication.login(of: request)
        let (contest, entry) = try await visible(context, to: (login.user, .login(login)))
        guard login.user == contest.organizer || entry != nil else {
            throw Refusal(.notEntrant).problem
        }
        guard contest.state == .settled || login.user == contest.organizer && contest.canBeSettled
        else {
            throw Refusal(.contestState).problem
        }
        return try await settlementReply(of: contest).response
    }

    /// Returns the settlement of a settled contest, otherwise a preview.
    ///
    /// - Throws: `corrupt` if the recomputed settlement differs from the stored one.
    func settlementReply(of contest: Contest) async throws -> BufferedReply {
        let plan = try await reader.result(of: contest).plan
        if contest.state == .settled, let violation = plan.violation(of: contest) {
            throw LedgerError.corrupt("a contest: \(violation)")
        }
        return try Reply.buffered(SettlementReply(plan, of: contest))
    }

    // MARK: Rendering

    func view(
        of contest: Contest,
        for viewer: UserID?,
        in language: Language
    ) async throws -> ContestView {
        let template = try await reader.template(of: contest)
        var entry: ContestEntry?
        var hasObjected = false
        if let viewer, viewer != contest.organizer {
            entry = try await ledger.entry(of: viewer, in: contest.id)
            if entry != nil, contest.body.objections > 0 {
                hasObjected = try await reader.hasObjected(viewer, to: contest)
            }
        }
        let isOrganizer = viewer == contest.organizer
        let isInvolved = isOrganizer || entry != nil
        return ContestView(
            contest: contest,
            template: template,
            viewer: viewer,
            origin: options.origin,
            entry: entry,
            hasObjected: hasObjected,
            objections: isOrganizer ? try await reader.objections(to: contest) : [],
            declarations: isInvolved ? try await reader.declarations(of: contest) : [],
            result: contest.state == .settled ? try await reader.result(of: contest) : nil,
            language: language,
            now: ledger.now
        )
    }

    /// Renders a contest with the field names that belong to the request's path.
    func reply(
        _ contest: Contest,
        to viewer: UserID?,
        _ request: Request
    ) async throws -> BufferedReply {
        let view = try await view(of: contest, for: viewer, in: request.language)
        return request.uri.path.hasPrefix("/api/custom-contests/")
            ? try Reply.buffered(CustomContest(view)) : try Reply.buffered(view.detail)
    }

    /// Returns the id of the contest in the address.
    static func contest(in context: ServerContext) throws -> RecordID {
        guard let id = context.parameters.get("id").flatMap({ ContestID.parse($0) }) else {
            throw Problem.noContest
        }
        return id
    }
}

extension Problem {
    static var noContest: Problem { Refusal(.unknownContest).problem }

}

extension BufferedReply {
    /// Returns the reply with its ETag, or 304 without a body if the caller already has this
    /// version.
    fileprivate func unless(_ request: Request) -> Response {
        let tag = "\"\(SHA256.hash(data: Array(body.readableBytesView)).prefix(16).hex)\""
        let known = request.headers[.ifNoneMatch]?.split(separator: ",") ?? []
        if known.contains(where: { $0.filter { $0 != " " } == tag }) {
            return Response(status: .notModified, headers: [.eTag: tag, .cacheControl: "no-store"])
        }
        var response = response
        response.headers[.eTag] = tag
        return response
    }
}

extension Request {
    /// The supported language that the caller prefers; English if no preferred language is
    /// supported.
    var language: Language {
        let liked = (headers[.acceptLanguage] ?? "").split(separator: ",").enumerated()
            .compactMap { index, part -> (weight: Double, index: Int, language: Language)? in
                let pieces = part.split(separator: ";").map { $0.filter { $0 != " " } }
                let name = pieces.first?.split(separator: "-").first?.lowercased() ?? ""
                guard let language = Language(rawValue: name) else { return nil }
                let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }
                    .flatMap { Double($0.dropFirst(2)) }
                return (weight ?? 1, index, language)
            }
        return liked.filter { $0.weight > 0 }
            .min { (-$0.weight, $0.index) < (-$1.weight, $1.index) }?.language ?? .english
    }
}

extension SettlementReply {
    init(_ plan: SettlementPlan, of contest: Contest) throws(LedgerError) {
        let settlement = contest.body.settlement
        let payouts = try plan.payouts.map { payout throws(LedgerError) in
            let entry = payout.standing.entry
            return Payout(
                entryID: try WireUUID(of: entry.id),
                entryNumber: WireCount(entry.number),
                username: entry.body.name,
                rank: WireCount(payout.standing.rank ?? 0),
                tier: payout.standing.tier.map { WireCount(Int64($0)) },
                payoutCents: WireCount(payout.amount)
            )
        }
        self.init(
            contestID: try WireUUID(of: contest.id),
            revision: WireCount(contest.body.revision),
            rules: WireCount(contest.terms.rules),
            poolCents: WireCount(plan.division.pool),
            rakeCents: WireCount(plan.division.rake),
            commissionCents: WireCount(plan.division.commission),
            payouts: payouts,
            inputsSHA256: plan.inputsHash,
            resultSHA256: plan.resultHash,
            transferID: settlement?.transfer,
            settledAt: settlement.map { Timestamp(milliseconds: $0.settledAt) }
        )
    }
}
