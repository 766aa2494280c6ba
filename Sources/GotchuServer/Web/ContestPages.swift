internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages

/// The public pages of contests, and the form submissions of entrants. The pages render the
/// documents that the API sends. The forms submit the API's commands.
struct ContestPages: Sendable {
    private static let boardLimit = 50

    let gate: WebGate
    let contests: ContestRoutes

    func register(on router: Router<ServerContext>) {
        let one = "\(WebPath.contests)/:id"
        func page(_ path: String, _ body: @escaping WebGate.Handler) {
            router.get(RouterPath(path), use: gate.open(HeavyReads.onPool(body)))
        }
        page(WebPath.contests, list)
        page(one, show)
        func press(
            _ name: String,
            fields limit: Int = FormFields.fieldLimit,
            _ body: @escaping @Sendable (inout WebForm) async throws -> Response
        ) {
            let answer = gate.form(needing: .payer, fields: limit) { form in
                try await contests.requireAvailable(to: form.visit.user, form.visit.context)
                return try await body(&form)
            }
            router.post(RouterPath("\(one)/\(name)"), use: answer)
        }
        press("join", join)
        press("leave", leave)
        press("roster", fields: RosterRule.sizeLimit + 4, enter)
        press("object", object)
    }

    private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let visit = try await gate.visit(request, context)
        try await contests.requireAvailable(to: visit?.user)
        var query = try QueryParameters(page: request, "cursor")
        let cursor = try ContestRoutes.cursor(&query)
        let subject =
            visit.map { RateLimitSubject.login(Login(user: $0.user)) } ?? .address(context.client)
        try gate.limits.allowResolve(as: subject)
        let list = try await contests.cards(behind: cursor, for: visit?.user, request)
        let view = ContestListPage(list: list, language: request.language, visit: visit)
        return view.page.response(for: visit)
    }

    private func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        let visit = try await gate.visit(request, context)
        try await contests.requireAvailable(to: visit?.user, context)
        return try await page(request, context, visit).response(for: visit)
    }

    // MARK: The page

    /// A form submission that failed, to be shown on the page.
    private struct Mistake {
        let problem: Problem
        /// The roster that was chosen in the form.
        var roster: [String] = []
    }

    private func page(
        _ request: Request,
        _ context: ServerContext,
        _ visit: WebVisit?,
        _ mistake: Mistake? = nil,
        invitation given: String? = nil
    ) async throws -> WebPage {
        var start: Int64 = 0
        var invitation = given
        if request.method == .get {
            var query = try QueryParameters(page: request, "join_token", "from")
            invitation = query.text("join_token")
            start = try query.integer("from", in: 1...Contest.joinLimit) ?? 0
        }
        let subject =
            visit.map { RateLimitSubject.login(Login(user: $0.user)) } ?? .address(context.client)
        try gate.limits.allowResolve(as: subject)
        let (contest, _) = try await contests.visible(
            context,
            to: (visit?.user, subject),
            invitation: invitation
        )
        let view = try await contests.view(
            of: contest,
            for: visit?.user,
            in: request.language
        )
        let board = ContestBoard(
            view: view,
            page: try await contests.reader.board(
                of: contest,
                from: start,
                limit: Self.boardLimit
            )
        )
        let page = ContestPage(
            detail: try view.detail,
            board: try board.leaderboard,
            language: request.language,
            zone: .local(at: contests.ledger.now, in: request.language),
            now: contests.ledger.now,
            visit: visit,
            invitation: invitation,
            chosen: mistake?.roster ?? [],
            origin: gate.site.origin
        )
        return page.page(saying: mistake?.problem)
    }

    // MARK: Forms

    /// The contest in a form's address, and the fields that most of the contest's forms have.
    private struct ContestSubmission {
        let visit: WebVisit
        let contest: RecordID
        let key: IdempotencyKey?
        let invitation: String?

        init(_ form: inout WebForm) throws {
            visit = form.visit
            contest = try ContestRoutes.contest(in: visit.context)
            key = form.fields.key()
            invitation = form.fields.text("join_token")
        }

        /// The address of the contest's page.
        var path: String {
            let token = invitation.map { "?join_token=\(WebPath.escaped($0))" } ?? ""
            return "\(WebPath.contest(contest))\(token)"
        }
    }

    @Sendable private func join(_ form: inout WebForm) async throws -> Response {
        let press = try ContestSubmission(&form)
        let fee = form.fields.text("entry_fee_cents").flatMap { Int64($0) }
        try form.fields.end()
        guard let fee, fee >= 0 else { throw Problem.invalid("The form has no entry fee.") }
        let user = press.visit.user
        try await contests.countWrongInvitation(
            press.invitation,
            to: press.contest,
            by: Login(user: user)
        )
        let command = JoinContest(
            contest: press.contest,
            user: user,
            expectedFee: fee,
            invitation: press.invitation
        )
        return try await decide(
            command,
            press,
            "join",
            HTML.hidden("entry_fee_cents", "\(fee)"),
            unknown:
                "It is not known yet whether you are in for \(Money(minorUnits: fee)). Please do "
                + "not join again elsewhere."
        )
    }

    @Sendable private func leave(_ form: inout WebForm) async throws -> Response {
        let press = try ContestSubmission(&form)
        try form.fields.end()
        return try await decide(
            LeaveContest(contest: press.contest, user: press.visit.user),
            press,
            "leave",
            nil,
            unknown: "It is not known yet whether you are out and have your money back."
        )
    }

    /// Submits a command. On success redirects to the contest's page. After a refusal shows that
    /// page with the problem. If the outcome is unknown, shows a form that resubmits with the same
    /// key.
    ///
    /// - Parameter fields: The form fields of this command, besides the key and the invitation.
    private func decide(
        _ command: some KeyedContestCommand,
        _ press: ContestSubmission,
        _ name: String,
        _ fields: HTML?,
        unknown: String
    ) async throws -> Response {
        guard let key = press.key else { throw Problem.malformedKey }
        let visit = press.visit
        do {
            let reply = try await contests.decide(command, by: visit.user, key: key, visit.context)
            guard case .failure(let refusal) = reply.outcome else {
                return gate.redirect(to: press.path)
            }
            return try await again(press, Mistake(problem: refusal.problem))
        } catch is LedgerError {
            let token = press.invitation.map { HTML.hidden("join_token", $0) }
            return WebPage.unknownOutcome(
                "Contest",
                section: .contests,
                unknown,
                again: "\(WebPath.contest(press.contest))/\(name)",
                "\(HTML.hidden("key", key.rawValue))\(token)\(fields)",
                for: visit
            )
        }
    }

    private func again(_ press: ContestSubmission, _ mistake: Mistake) async throws -> Response {
        let visit = press.visit
        return try await page(
            visit.request,
            visit.context,
            visit,
            mistake,
            invitation: press.invitation
        )
        .response(for: visit, status: .init(code: mistake.problem.status))
    }

    @Sendable private func enter(_ form: inout WebForm) async throws -> Response {
        let press = try ContestSubmission(&form)
        var chosen: [String] = []
        for place in 1...RosterRule.sizeLimit {
            guard let id = form.fields.text(ContestPage.place(place)) else { break }
            chosen.append(id)
        }
        try form.fields.end()
        let roster = chosen.filter { !$0.isEmpty }
        let players = roster.map { JSONValue.object(["player_id": .string($0)]) }
        do {
            let body = try JSONFields(form: ["roster": .array(players)])
            let login = Login(user: press.visit.user)
            _ = try await contests.enter(body, press.visit.context, login)
            return gate.redirect(to: press.path)
        } catch let problem as Problem {
            return try await again(press, Mistake(problem: problem, roster: chosen))
        }
    }

    @Sendable private func object(_ form: inout WebForm) async throws -> Response {
        let press = try ContestSubmission(&form)
        let text = form.fields.typed("text") ?? ""
        try form.fields.end()
        do {
            let body = try JSONFields(form: ["text": .string(text)])
            _ = try await contests.object(to: press.contest, by: press.visit.user, body)
            return gate.redirect(to: press.path)
        } catch let problem as Problem {
            return try await again(press, Mistake(problem: problem))
        }
    }
}

extension JSONFields {
    /// Converts the fields of a form to the body of an API call. Thus the same checks apply.
    init(form members: [String: JSONValue]) throws(Problem) {
        try self.init(CanonicalJSON.bytes(of: JSONValue.object(members)))
    }
}

extension WebPath {
    static func contest(_ id: RecordID) -> String { "\(contests)/\(id)" }
}
