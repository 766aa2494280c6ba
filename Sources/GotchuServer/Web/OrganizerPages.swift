internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages

/// The merchant's own contests: a list, a form for a new contest, and the organiser's actions. Each
/// form submits the API's command. If the command needs an idempotency key, the form contains it.
struct OrganizerPages: Sendable {
    private static let templateLimit = 200
    private static let listLimit = 50

    let gate: WebGate
    let contests: ContestRoutes

    func register(on router: Router<ServerContext>) {
        let one = "\(WebPath.ownContests)/:id"
        func page(_ path: String, _ body: @escaping @Sendable (WebVisit) async throws -> Response) {
            let answer = gate.page(needing: .payee) { visit in
                try await contests.requireAvailable(to: visit.user)
                return try await HeavyReads.runOnPool { try await body(visit) }
            }
            router.get(RouterPath(path), use: answer)
        }
        func form(
            _ path: String,
            fields limit: Int = FormFields.fieldLimit,
            _ body: @escaping @Sendable (inout WebForm) async throws -> Response
        ) {
            let answer = gate.form(needing: .payee, fields: limit) { form in
                try await contests.requireAvailable(to: form.visit.user)
                return try await body(&form)
            }
            router.post(RouterPath(path), use: answer)
        }
        page(WebPath.ownContests, list)
        form(WebPath.ownContests, create)
        page(one, show)
        form("\(one)/scores", fields: ScoreForm.fieldLimit, score)
        for act in Act.allCases {
            form("\(one)/\(act.rawValue)") { form in try await carryOut(act, &form) }
        }
    }

    // MARK: The list and a new contest

    private func list(_ visit: WebVisit) async throws -> Response {
        var query = try QueryParameters(page: visit.request, "before")
        let before = query.text("before").flatMap { ContestID.parse($0) }
        return try await listPage(visit, ContestForm(), before: before).response(for: visit)
    }

    private func listPage(
        _ visit: WebVisit,
        _ form: ContestForm,
        before: RecordID? = nil,
        problem: Problem? = nil
    ) async throws -> WebPage {
        let own = try await contests.ledger.records(
            of: visit.user,
            kind: Contest.kind,
            before: before,
            limit: Self.listLimit
        )
        var views: [ContestView] = []
        for contest in own.compactMap({ contests.reader.readable($0) })
        where !contest.body.isDeleted {
            views.append(try await contests.summary(of: contest, for: visit.user, in: .english))
        }
        let last = own.count == Self.listLimit ? own.last?.id : nil
        var templates = ContestTemplate.builtIn
        let records = try await contests.ledger.records(
            kind: ContestTemplate.kind,
            before: nil,
            limit: Self.templateLimit
        )
        templates += records.compactMap { try? ContestTemplate($0) }
        let names = templates.map { template in
            (
                id: template.id,
                name: "\(template.badge.text(in: .english)): "
                    + template.scoring.format.text(in: .english)
            )
        }
        return WebPage(
            title: "Your contests",
            section: .contests,
            banner: problem.map {
                WebPage.Banner("\($0.detail) Nothing was made.", isBad: true)
            },
            controls: "<a class=\"plain\" href=\"\(WebPath.contests)\">All contests</a>",
            content: """
                \(OrganizerPage.list(views, olderThan: last, visit.zone))\
                \(form.panel(names, for: visit))
                """
        )
    }

    private func create(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let typed = ContestForm(&form.fields)
        let key = try form.fields.keyAtEnd()
        do {
            var body = try typed.body(in: visit.zone)
            let terms = try await contests.terms(&body)
            let reply = try await contests.decide(
                ContestRoutes.creation(of: terms, by: visit.user),
                by: visit.user,
                key: key,
                visit.context
            )
            switch reply.outcome {
            case .success(let id):
                return gate.redirect(to: WebPath.ownContest(id), saying: .contestCreated)
            case .failure(let refusal): throw refusal.problem
            }
        } catch let problem as Problem {
            return try await listPage(visit, typed, problem: problem)
                .response(for: visit, status: .init(code: problem.status))
        }
    }

    // MARK: One contest

    @Sendable private func show(_ visit: WebVisit) async throws -> Response {
        try await page(visit).response(for: visit)
    }

    /// Returns the contest in the address. Throws 404 if it is missing or another organiser's.
    private func contest(_ visit: WebVisit) async throws -> Contest {
        let id = try ContestRoutes.contest(in: visit.context)
        guard let contest = try await contests.reader.contest(id),
            contest.organizer == visit.user
        else { throw Problem.noContest }
        return contest
    }

    private func page(_ visit: WebVisit, problem: Problem? = nil) async throws -> WebPage {
        let contest = try await contest(visit)
        let view = try await contests.view(of: contest, for: visit.user, in: .english)
        return OrganizerPage(
            view: view,
            result: try await contests.reader.result(of: contest),
            visit: visit,
            origin: gate.site.origin
        )
        .page(saying: problem)
    }

    private func score(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        do {
            let contest = try await contest(visit)
            guard let base = form.fields.text("base_revision").flatMap({ Int64($0) }) else {
                throw Problem.invalid("The form has no revision.")
            }
            let sheet = ScoreForm(
                contest: contest,
                template: try await contests.reader.template(of: contest),
                plan: try await contests.reader.result(of: contest).plan
            )
            let scores = try sheet.scores(&form.fields)
            try form.fields.end()
            let path = WebPath.ownContest(contest.id)
            guard !scores.isEmpty else {
                // If the form is older than the scores, it was probably submitted before.
                let isAgain = base < contest.body.revision
                return gate.redirect(
                    to: path,
                    saying: isAgain ? .scoresEntered : .nothingScored
                )
            }
            let body = try JSONFields(
                form: ["base_revision": .integer(base), "scores": .array(scores)]
            )
            _ = try await contests.score(contest.id, by: visit.user, body)
            return gate.redirect(to: path, saying: .scoresEntered)
        } catch let problem as Problem where problem.status != 404 {
            return try await page(visit, problem: problem)
                .response(for: visit, status: .init(code: problem.status))
        }
    }

    // MARK: Actions

    /// The form actions that change a contest. The raw values are the ids of the API's actions.
    enum Act: String, CaseIterable, Sendable {
        case publish, lock, complete, dispute, settle, cancel, delete, renew

        /// Returns true if the action ends the contest and moves its money. `complete` is final if
        /// there is no time for objections.
        func isFinal(for contest: Contest) -> Bool {
            switch self {
            case .settle, .cancel: true
            case .complete: contest.terms.reviewSeconds == 0
            case .publish, .lock, .dispute, .delete, .renew: false
            }
        }
    }

    private func carryOut(_ act: Act, _ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let key = form.fields.key()
        let reason = form.fields.typed("reason") ?? ""
        let revision = form.fields.text("revision").flatMap { Int64($0) }
        try form.fields.end()
        let contest = try await contest(visit)
        let path = WebPath.ownContest(contest.id)
        do {
            if act.isFinal(for: contest) { try visit.requireFresh(for: "The end of a contest") }
            try await carryOut(act, contest, visit, key, reason, revision)
            return gate.redirect(
                to: act == .delete ? WebPath.ownContests : path,
                saying: .contestChanged
            )
        } catch let problem as Problem {
            return try await page(visit, problem: problem)
                .response(for: visit, status: .init(code: problem.status))
        } catch is LedgerError {
            let fields: HTML = """
                \(HTML.hidden("key", key?.rawValue ?? ""))\(HTML.hidden("reason", reason))\
                \(revision.map { HTML.hidden("revision", "\($0)") })
                """
            return WebPage.unknownOutcome(
                "Contest",
                section: .contests,
                "It is not known yet whether this was done.",
                again: "\(path)/\(act.rawValue)",
                fields,
                for: visit
            )
        }
    }

    private func carryOut(
        _ act: Act,
        _ contest: Contest,
        _ visit: WebVisit,
        _ key: IdempotencyKey?,
        _ reason: String,
        _ revision: Int64?
    ) async throws {
        let (id, user) = (contest.id, visit.user)
        func keyed(_ command: some KeyedContestCommand) async throws {
            guard let key else { throw Problem.malformedKey }
            let reply = try await contests.decide(command, by: user, key: key, visit.context)
            if case .failure(let refusal) = reply.outcome { throw refusal.problem }
        }
        func change(_ change: ChangeContest.Change) async throws {
            let command = ChangeContest(change, contest: id, organizer: user)
            if case .failure(let refusal) = try await contests.ledger.submit(command) {
                throw refusal.problem
            }
        }
        func checked() throws -> String {
            try ContestRoutes.reason(JSONFields(form: ["reason": .string(reason)]))
        }
        switch act {
        case .publish: try await keyed(PublishContest(contest: id, organizer: user))
        case .settle:
            try contests.requireReviewed(contest, by: user)
            try await keyed(SettleContest(contest: id, organizer: user))
        case .cancel:
            try await keyed(CancelContest(contest: id, organizer: user, reason: checked()))
        case .lock: try await change(.lock)
        case .dispute: try await change(.dispute(reason: checked()))
        case .delete: try await change(.delete)
        case .renew: try await change(.renewInvitation(ContestRoutes.newInvitation()))
        case .complete:
            guard let revision else { throw Problem.invalid("The form has no revision.") }
            _ = try await contests.complete(id, by: user, revision: revision)
        }
    }
}

extension WebPath {
    static func ownContest(_ id: RecordID) -> String { "\(ownContests)/\(id)" }
}
