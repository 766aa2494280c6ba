internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

extension ContestRoutes {
    /// Submits a command with an idempotency key, and renders the contest afterwards.
    ///
    /// - Parameter rendered: Renders the contest; if `nil`, the reply to a read of the contest.
    func submit(
        _ command: some KeyedContestCommand,
        by user: UserID,
        key: IdempotencyKey,
        _ request: Request,
        _ context: ServerContext,
        isRepeated: Bool = false,
        rendered: ((Contest) async throws -> BufferedReply)? = nil
    ) async throws -> Response {
        let answer = try await decide(command, by: user, key: key, context)
        return try await Reply.answer(answer, isRepeated: isRepeated) { id in
            guard let contest = try await reader.contest(id) else { throw Problem.noContest }
            if let rendered { return try await rendered(contest) }
            return try await reply(contest, to: user, request)
        }
    }

    /// Decides a command with an idempotency key, for routes and pages. If the pot differs from the
    /// entries, also stops the contest.
    func decide<Command: KeyedContestCommand>(
        _ command: Command,
        by user: UserID,
        key: IdempotencyKey,
        _ context: ServerContext
    ) async throws(LedgerError) -> CommandReply<RecordID> {
        let isJoin = command is JoinContest
        do throws(LedgerError) {
            let reply = try await ledger.submit(
                command,
                as: KeyedRequest(user, key, .contest(Command.name, command.parameters), context)
            )
            if isJoin {
                let isAccepted = if case .success = reply.outcome { true } else { false }
                let end: ContestMetrics.Join = isAccepted ? .joined : .refused
                metrics.joined(reply.isReplay ? .replayed : end)
            }
            if case .failure(let refusal) = reply.outcome, refusal.reason == .potUnequal {
                // A refusal writes nothing, so a separate command stops the contest.
                _ = try await ledger.submit(
                    SweepContest(contest: command.record, isChecking: true)
                )
            }
            return reply
        } catch {
            if isJoin { metrics.joined(.failed) }
            throw error
        }
    }

    @Sendable func join(_ request: Request, _ context: ServerContext) async throws -> Response {
        let login = try await authentication.login(of: request, needing: .payer)
        let isCustom = request.uri.path.hasPrefix("/api/custom-contests/")
        let key = try request.idempotencyKey()
        let id = try Self.contest(in: context)
        var fields = try await request.fields()
        let fee = try fields.integer("entry_fee_cents")
        let usesWallet = try fields.boolean("use_wallet") ?? true
        let invitation = try fields.shortText("join_token", limit: 64)
        try fields.rejectUnreadMembers()
        guard usesWallet else {
            throw Problem.invalid(
                "An entry is paid from the wallet: put money into it first "
                    + "(POST /api/payments/intents), then join with use_wallet true."
            )
        }
        guard fee != nil || isCustom else {
            throw Problem.invalid("entry_fee_cents is missing.")
        }
        guard fee.map({ $0 >= 0 }) ?? true else {
            throw Problem.invalid("entry_fee_cents must not be negative.")
        }
        try await countWrongInvitation(invitation, to: id, by: login)
        return try await submit(
            JoinContest(
                contest: id,
                user: login.user,
                expectedFee: fee,
                invitation: invitation
            ),
            by: login.user,
            key: key,
            request,
            context
        )
    }

    /// Counts a wrong invitation like an unknown EID: guessing is slowed down.
    func countWrongInvitation(
        _ invitation: String?,
        to id: RecordID,
        by login: Login
    ) async throws {
        guard invitation != nil else { return }
        try authentication.limits.allowResolve(as: .login(login))
        guard let contest = try await reader.contest(id), !contest.admits(invitation) else {
            return
        }
        authentication.limits.countMiss(by: .login(login))
    }

    @Sendable func leave(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        let key = try request.idempotencyKey()
        let id = try Self.contest(in: context)
        try await request.fields().rejectUnreadMembers()
        return try await submit(
            LeaveContest(contest: id, user: user),
            by: user,
            key: key,
            request,
            context
        )
    }

    @Sendable func enterRoster(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let login = try await authentication.login(of: request, needing: .payer)
        return try Reply.json(
            EnteredRoster(try await enter(try await request.fields(), context, login))
        )
    }

    /// Replaces an entrant's roster with the roster in a request body.
    func enter(
        _ fields: consuming JSONFields,
        _ context: ServerContext,
        _ login: Login
    ) async throws -> ContestEntry {
        var fields = fields
        var roster: [String] = []
        let players = try fields.objects("roster", limit: RosterRule.sizeLimit)
        try fields.rejectUnreadMembers()
        guard let players else { throw Problem.invalid("roster is missing.") }
        for var player in players {
            guard let id = try player.string("player_id")?.uuid else {
                throw Problem.invalid("player_id must be a UUID.")
            }
            try player.rejectUnreadMembers()
            roster.append(id)
        }
        let (contest, entry) = try await visible(context, to: (login.user, .login(login)))
        guard entry != nil else { throw Refusal(.notJoined).problem }
        guard let rule = try await reader.template(of: contest).roster else {
            throw Problem(.rosterInvalid, detail: "The contest takes no rosters.")
        }
        if let violation = rule.violation(in: roster) {
            throw Problem(.rosterInvalid, detail: violation.sentence(rule))
        }
        return try await ledger.submit(
            EnterRoster(contest: contest.id, user: login.user, roster: roster)
        ).accepted()
    }

    @Sendable func object(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payer)
        let id = try Self.contest(in: context)
        let contest = try await object(to: id, by: user, try await request.fields())
        return try await reply(contest, to: user, request).response
    }

    /// Records an entrant's objection, read from a request body.
    func object(
        to id: RecordID,
        by user: UserID,
        _ fields: consuming JSONFields
    ) async throws -> Contest {
        var fields = fields
        let text = try fields.shortText("text", limit: 280)
        try fields.rejectUnreadMembers()
        guard let text, !text.isEmpty else {
            throw Problem.invalid("text must have 1 to 280 characters.")
        }
        guard let contest = try await reader.contest(id) else { throw Problem.noContest }
        return try await ledger.submit(
            ObjectToContest(
                contest: id,
                user: user,
                revision: contest.body.revision,
                text: text
            )
        ).accepted()
    }
}

extension RosterRule.Violation {
    fileprivate func sentence(_ rule: RosterRule) -> String {
        switch self {
        case .size(let count): "The roster has \(count) players, and needs \(rule.size)."
        case .unknownPlayer(let id): "The player \(id) is none of this contest's."
        case .twice(let id): "The player \(id) is in the roster twice."
        case .position(let position): "The roster has too few players for \(position)."
        case .overCap(let cost):
            "The roster costs \(cost), and may cost \(rule.salaryCap ?? cost)."
        }
    }
}

/// A contest command with an idempotency key.
protocol KeyedContestCommand: RecordCommand {
    /// The call's own parameters, for the fingerprint of the idempotency key.
    var parameters: [String] { get }
}

extension CreateContest: KeyedContestCommand {
    /// The terms that the caller chose. A server with other settings repeats the same answer.
    var parameters: [String] { [terms.chosen] }
}

extension PublishContest: KeyedContestCommand {
    var parameters: [String] { [contest.rawValue] }
}

extension JoinContest: KeyedContestCommand {
    var parameters: [String] {
        [contest.rawValue, expectedFee.map { "\($0)" } ?? "-", invitation ?? "-"]
    }
}

extension LeaveContest: KeyedContestCommand {
    var parameters: [String] { [contest.rawValue] }
}

extension SettleContest: KeyedContestCommand {
    var parameters: [String] { [contest.rawValue] }
}

extension CancelContest: KeyedContestCommand {
    var parameters: [String] { [contest.rawValue, reason] }
}
