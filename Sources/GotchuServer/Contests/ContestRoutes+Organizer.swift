internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

extension ContestRoutes {
    private static let maximumReasonLength = 140

    @Sendable func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payee)
        let key = try request.idempotencyKey()
        var fields = try await request.fields()
        let terms = try await terms(&fields)
        try fields.rejectUnreadMembers()
        return try await submit(
            Self.creation(of: terms, by: user),
            by: user,
            key: key,
            request,
            context
        )
    }

    static func creation(of terms: ContestTerms, by user: UserID) -> CreateContest {
        CreateContest(
            organizer: user,
            terms: terms,
            invitation: terms.isInviteOnly ? newInvitation() : nil
        )
    }

    /// Reads and checks the terms of a new contest.
    func terms(_ fields: inout JSONFields) async throws -> ContestTerms {
        guard let id = try fields.string("template_id")?.uuid else {
            throw Problem.invalid("template_id must be a UUID.")
        }
        guard let title = try fields.shortText("title", limit: 80),
            !title.allSatisfy(\.isWhitespace)
        else {
            throw Problem.invalid("title must have 1 to 80 characters, and not only spaces.")
        }
        guard let description = try fields.shortText("description", limit: 2000) else {
            throw Problem.invalid("description is missing.")
        }
        guard try fields.string("currency") == Currency.usd.rawValue else {
            throw Problem.invalid("currency must be usd.")
        }
        let (starts, locks) = (try fields.time("starts_at"), try fields.time("locks_at"))
        guard let starts, let locks else {
            throw Problem.invalid("starts_at and locks_at must be there.")
        }
        let fee = try fields.requiredInteger("entry_fee_cents")
        let most = try fields.integer("max_entries") ?? ContestTerms.entryLimit
        let ends = try fields.time("ends_at")
        let tiers = try fields.tiers()
        let rake = try fields.integer("rake_bps") ?? 0
        let prize = try fields.integer("added_prize_cents") ?? 0
        let review = try fields.integer("settle_after_seconds") ?? ContestTerms.defaultReviewSeconds
        let isPrivate = try fields.boolean("is_invite_only") ?? false
        guard let template = try await reader.template(id) else {
            throw Problem(.notFound, detail: "There is no such template.")
        }
        let terms = ContestTerms(
            of: template,
            title: title,
            description: description,
            fee: fee,
            maxEntries: most,
            startsAt: starts,
            locksAt: locks,
            endsAt: ends,
            tiers: tiers,
            rakeBPS: rake,
            commissionBPS: options.commissionBPS,
            addedPrize: prize,
            reviewSeconds: review,
            isInviteOnly: isPrivate
        )
        if let violation = terms.violation { throw Problem.invalid(violation) }
        return terms
    }

    /// Returns 128 random bits, in hex.
    static func newInvitation() -> String { [UInt8].random(16).hex }

    @Sendable func publish(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        let key = try request.idempotencyKey()
        try await request.fields().rejectUnreadMembers()
        return try await submit(
            PublishContest(contest: id, organizer: user),
            by: user,
            key: key,
            request,
            context
        )
    }

    @Sendable func settle(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        let key = try request.idempotencyKey()
        try await request.fields().rejectUnreadMembers()
        let contest = try await reader.contest(id)
        if let contest { try requireReviewed(contest, by: user) }
        return try await submit(
            SettleContest(contest: id, organizer: user),
            by: user,
            key: key,
            request,
            context,
            isRepeated: contest?.state == .settled,
            rendered: settlementReply
        )
    }

    /// Throws if the user is the organiser and the time for objections is not over. The error
    /// states the end of that time. It is not stored under the idempotency key, so a retry with the
    /// key is decided anew.
    func requireReviewed(_ contest: Contest, by user: UserID) throws {
        guard contest.organizer == user, let end = contest.settlesAt,
            contest.settleRefusal(at: ledger.now) == .contestUnderReview
        else { return }
        throw Problem(
            .contestState,
            detail: "The time for objections ends at \(end.iso8601): nothing is paid before. "
                + "No money has moved.",
            fix: "It settles by itself then; settle_after_seconds 0 leaves no such time."
        )
    }

    @Sendable func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        let key = try request.idempotencyKey()
        let reason = try Self.reason(try await request.fields())
        let isCancelled = try await reader.contest(id)?.state == .cancelled
        return try await submit(
            CancelContest(contest: id, organizer: user, reason: reason),
            by: user,
            key: key,
            request,
            context,
            isRepeated: isCancelled
        )
    }

    @Sendable func lock(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        try await request.fields().rejectUnreadMembers()
        return try await change(.lock, id, user, request)
    }

    @Sendable func dispute(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        return try await change(
            .dispute(reason: Self.reason(try await request.fields())),
            id,
            user,
            request
        )
    }

    @Sendable func delete(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        _ = try await ledger.submit(ChangeContest(.delete, contest: id, organizer: user))
            .accepted()
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    @Sendable func renewInvitation(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        try await request.fields().rejectUnreadMembers()
        let invitation = Self.newInvitation()
        _ = try await ledger.submit(
            ChangeContest(.renewInvitation(invitation), contest: id, organizer: user)
        ).accepted()
        return try Reply.json(InvitationReply(joinToken: invitation))
    }

    @Sendable func complete(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        var fields = try await request.fields()
        let revision = try fields.requiredInteger("revision")
        try fields.rejectUnreadMembers()
        let contest = try await complete(id, by: user, revision: revision)
        return try await reply(contest, to: user, request).response
    }

    /// Declares the newest scores final. The scores are read before and not by the command, because
    /// payments wait for commands.
    func complete(_ id: RecordID, by user: UserID, revision: Int64) async throws -> Contest {
        var hasResult = false
        if let contest = try await reader.contest(id), contest.organizer == user,
            contest.completeRefusal(at: revision) == nil
        {
            hasResult = try await reader.result(of: contest).standings
                .contains { $0.result != nil }
        }
        return try await ledger.submit(
            CompleteContest(
                contest: id,
                organizer: user,
                revision: revision,
                hasResult: hasResult
            )
        ).accepted()
    }

    @Sendable func score(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, id) = try await organizer(of: request, context)
        let revision = try await score(id, by: user, try await request.fields())
        return try Reply.json(
            ScoresReply(revision: WireCount(revision.body.revision), sha256: revision.hash)
        )
    }

    /// Submits the scores in a request body.
    func score(
        _ id: RecordID,
        by user: UserID,
        _ fields: consuming JSONFields
    ) async throws -> ScoreRevision {
        var fields = fields
        let base = try fields.requiredInteger("base_revision")
        let objects = try fields.objects("scores", limit: ScoreRevision.limit)
        try fields.rejectUnreadMembers()
        guard (0...Int64(Int32.max)).contains(base) else {
            throw Problem.invalid("base_revision must be a revision.")
        }
        guard let objects, !objects.isEmpty else {
            throw Problem.invalid("scores must be 1 to \(ScoreRevision.limit).")
        }
        guard let contest = try await reader.contest(id), !contest.isHidden(from: user) else {
            throw Problem.noContest
        }
        let template = try await reader.template(of: contest)
        var scores: [Score] = []
        for var object in objects { scores.append(try object.score(in: contest, template)) }
        guard Set(scores.map { $0.player ?? "\($0.entry ?? 0)" }).count == scores.count else {
            throw Problem.invalid("scores must name each entry or player once.")
        }
        if let rule = template.roster {
            let known = Set(rule.players.map(\.id))
            for score in scores where !known.contains(score.player ?? "") {
                throw Problem.invalid("player_id must be one of the template's players.")
            }
        }
        return try await ledger.submit(
            ScoreContest(contest: id, organizer: user, base: base, scores: scores)
        ).accepted()
    }

    private func change(
        _ change: ChangeContest.Change,
        _ id: RecordID,
        _ user: UserID,
        _ request: Request
    ) async throws -> Response {
        let contest = try await ledger.submit(
            ChangeContest(change, contest: id, organizer: user)
        ).accepted()
        return try await reply(contest, to: user, request).response
    }

    private func organizer(
        of request: Request,
        _ context: ServerContext
    ) async throws -> (user: UserID, contest: RecordID) {
        let user = try await authentication.user(of: request, needing: .payee)
        return (user, try Self.contest(in: context))
    }

    /// Reads the reason from a request body.
    static func reason(_ fields: consuming JSONFields) throws -> String {
        var fields = fields
        let reason = try fields.shortText("reason", limit: maximumReasonLength)
        try fields.rejectUnreadMembers()
        guard let reason, !reason.isEmpty else {
            throw Problem.invalid("reason must have 1 to \(maximumReasonLength) characters.")
        }
        return reason
    }
}

extension JSONFields {
    /// Reads a time; `nil` if it is absent or `null`.
    fileprivate mutating func time(_ name: String) throws(Problem) -> Timestamp? {
        try parsed(name, "a time in UTC, such as 2026-12-04T18:00:00Z") { Timestamp(iso8601: $0) }
    }

    fileprivate mutating func tiers() throws(Problem) -> [ContestTerms.Tier] {
        guard let objects = try objects("tiers", limit: ContestTerms.tierLimit) else {
            throw .invalid("tiers is missing.")
        }
        var tiers: [ContestTerms.Tier] = []
        for var object in objects {
            tiers.append(
                ContestTerms.Tier(
                    rankMin: try object.requiredInteger("rank_min"),
                    rankMax: try object.requiredInteger("rank_max"),
                    shareBPS: try object.requiredInteger("share_bps")
                )
            )
            try object.rejectUnreadMembers()
        }
        return tiers
    }

    /// Reads one score. Members that are not part of a score are refused.
    fileprivate mutating func score(
        in contest: Contest,
        _ template: ContestTemplate
    ) throws(Problem) -> Score {
        let entry = try integer("entry_number")
        let player = try string("player_id")
        let points: Int64?
        switch value("points") {
        case .integer(let number): points = number
        case .null: points = nil
        default: throw .invalid("points must be a whole number, or null.")
        }
        let values = try scoreValues()
        try rejectUnreadMembers()
        let isByEntry = contest.terms.scoredBy == .entry
        guard isByEntry == (entry != nil), isByEntry == (player == nil) else {
            throw .invalid(
                isByEntry
                    ? "This contest's scores name an entry_number each."
                    : "This contest's scores name a player_id each."
            )
        }
        if let entry, !(1...max(1, contest.body.entryNumber)).contains(entry) {
            throw .invalid("The contest has no entry \(entry) (entry_number).")
        }
        let score = Score(entry: entry, player: player, points: points, values: values)
        if let violation = template.violation(inValues: values ?? [:]) { throw .invalid(violation) }
        guard score.isPossible else {
            throw .invalid(
                "points and values must be from -\(Score.limit) to \(Score.limit), texts of at "
                    + "most 200 bytes, and values at most \(Score.valueLimit)."
            )
        }
        return score
    }

    private mutating func scoreValues() throws(Problem) -> [String: Score.Value]? {
        let wrong = Problem.invalid("values must be an object of whole numbers and strings.")
        switch value("values") {
        case nil, .null: return nil
        case .object(let members):
            var values: [String: Score.Value] = [:]
            for (name, value) in members {
                switch value {
                case .integer(let number): values[name] = .number(number)
                case .string(let text): values[name] = .text(text)
                default: throw wrong
                }
            }
            return values
        default: throw wrong
        }
    }
}
