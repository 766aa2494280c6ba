internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Pages

/// The organiser's page of one contest.
struct OrganizerPage: Sendable {
    /// The maximum number of rows of a table.
    static let rowLimit = 500

    let view: ContestView
    let result: ContestResult
    let visit: WebVisit
    /// The server's address for browsers.
    let origin: String

    private var contest: Contest { view.contest }
    private var path: String { WebPath.ownContest(contest.id) }
    private var actions: [ContestAction] { view.actionList }

    private func money(_ amount: Int64) -> Money {
        Money(minorUnits: amount, currency: contest.terms.currency)
    }

    private func isEnabled(_ id: String) -> Bool {
        actions.contains { $0.id == id && $0.enabled }
    }

    /// - Parameter problem: The reason why the last form submission had no effect.
    func page(saying problem: Problem?) -> WebPage {
        let form = ScoreForm(
            contest: contest,
            template: view.template,
            plan: result.plan
        )
        return WebPage(
            title: contest.terms.title,
            section: .contests,
            banner: problem.map {
                let fix = $0.fix.map { " \($0)" } ?? ""
                return WebPage.Banner("\($0.detail)\(fix)", isBad: true)
            },
            controls: """
                <a class="plain" href="\(WebPath.contest(contest.id))">Its page</a>\
                <a class="plain" href="\(path)">Refresh</a>
                """,
            content: """
                \(summary)
                \(actionPanel)
                \(history)
                \(objections)
                \(prizes)
                \(isEnabled("score") ? form.panels(for: visit, at: path) : nil)
                \(entrants)
                <p><a href="\(WebPath.ownContests)">All your contests</a></p>
                """
        )
    }

    // MARK: Summary

    /// Returns the list of a person's own contests.
    ///
    /// - Parameter last: The last contest on this page; `nil` if there are no older ones.
    static func list(
        _ views: [ContestView],
        olderThan last: RecordID?,
        _ zone: WebZone
    ) -> HTML {
        guard !views.isEmpty || last != nil else {
            return """
                <section class="panel"><div class="empty"><b>No contest yet</b>Make one below.\
                </div></section>
                """
        }
        let rows = views.map { view -> HTML in
            """
            <tr><td class="what"><a href="\(WebPath.ownContest(view.contest.id))">\
            <bdi>\(view.terms.title)</bdi></a></td><td>\(chip(view))</td>\
            <td>\(HTML.label("starts"))\(zone.time(view.terms.startTime))</td>\
            <td class="n">\(view.feeText)</td></tr>

            """
        }
        let columns = [("Contest", "what"), ("State", ""), ("Starts", ""), ("Fee", "n")]
        let more = last.map {
            HTML.more("\(WebPath.ownContests)?before=\($0.rawValue)", "Older")
        }
        return "<section class=\"panel\">\(HTML.list(columns, rows))\(more)</section>"
    }

    private static func chip(_ view: ContestView) -> HTML {
        switch view.contest.state {
        case .draft: .chip("◌", view.words.draft)
        case .open: .chip("◌", view.entriesText)
        case .locked, .live, .complete, .settled, .cancelled, .error:
            ContestPage.chip(view.contest.wireState, .english)
        }
    }

    private var summary: HTML {
        let terms = contest.terms
        let zone = visit.zone
        var facts: [(String, HTML)] = [
            ("State", Self.chip(view)),
            ("Entries", "\(view.entriesText)"),
            ("Entry fee", "\(view.feeText)"),
            ("Entries close", zone.time(terms.lockTime, hasFullDate: true)),
            ("Starts", zone.time(terms.startTime, hasFullDate: true)),
        ]
        if let end = terms.endTime { facts.append(("Ends", zone.time(end, hasFullDate: true))) }
        if terms.addedPrize > 0 { facts.append(("Added prize", "\(money(terms.addedPrize))")) }
        if let time = contest.settlesAt {
            facts.append(("Prizes are paid on", zone.time(time, hasFullDate: true)))
        }
        if let settlement = contest.body.settlement {
            facts.append(("Proof", "<code>\(settlement.resultHash)</code>"))
        }
        let rows = facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" as HTML }
        return "<section class=\"panel\"><dl>\(rows)</dl>\(invitation)</section>"
    }

    private var invitation: HTML? {
        guard view.maySeeInvitation, let token = contest.body.invitation else { return nil }
        return """
            <p>Anyone with this link can enter:</p>
            <p><code class="secret">\
            \(origin)\(WebPath.contest(contest.id))?join_token=\(token)</code></p>
            \(visit.form(to: "\(path)/renew", "<button class=\"plain\">Make a new link</button>"))
            """
    }

    // MARK: Actions

    private var actionPanel: HTML {
        let rows = actions.compactMap { action -> HTML? in
            guard let act = OrganizerPages.Act(rawValue: action.id) else { return nil }
            guard action.enabled else {
                let reason = action.reason.map { "<span class=\"quiet\">\($0.text)</span>" as HTML }
                return "<li><b>\(action.label)</b> \(reason)</li>"
            }
            return "<li>\(form(of: act, action))</li>"
        }
        return """
            <section class="panel" id="actions"><h2>What you can do</h2>\
            <ul class="actions">\(rows)</ul></section>
            """
    }

    private func form(of act: OrganizerPages.Act, _ action: ContestAction) -> HTML {
        if act.isFinal(for: contest), !visit.isFresh {
            return visit.freshLogin(for: action.label, to: path)
        }
        let key: HTML? =
            action.needsKey == true ? HTML.hidden("key", IdempotencyKey.random().rawValue) : nil
        let question = action.confirm.map { "<p class=\"quiet\">\($0)</p>" as HTML }
        let fields: HTML? =
            switch act {
            case .complete: HTML.hidden("revision", "\(contest.body.revision)")
            case .dispute, .cancel:
                """
                <label>Reason<input name="reason" required maxlength="140" autocomplete="off">\
                </label>
                """
            case .publish, .lock, .settle, .delete, .renew: nil
            }
        let style =
            switch act {
            case .cancel, .delete, .dispute: "danger"
            case .publish, .complete, .settle: "main"
            case .lock, .renew: "plain"
            }
        return visit.form(
            to: "\(path)/\(act.rawValue)",
            style: "line",
            "\(key)\(question)\(fields)<button class=\"\(style)\">\(action.label)</button>"
        )
    }

    /// The declared results, the disputes and the cancellation, as entrants see them.
    private var history: HTML? {
        view.history.map(ContestSections(language: .english, zone: visit.zone).panel)
    }

    private var objections: HTML? {
        guard !view.objections.isEmpty else { return nil }
        let rows = view.objections.map { objection -> HTML in
            """
            <tr><td>\(visit.zone.time(objection.madeAt))</td>\
            <td>\(objection.body.entry) · <bdi>\(objection.body.name)</bdi></td>\
            <td class="n">\(objection.body.revision)</td>\
            <td class="what"><bdi>\(objection.body.text)</bdi></td></tr>
            """
        }
        // The result is shown, because a newer result may have settled the objection.
        let columns = [("When", ""), ("Entry", ""), ("Result", "n"), ("Objection", "what")]
        let older = contest.body.objections - Int64(rows.count)
        let note: HTML? =
            older > 0 ? "<p class=\"quiet\">\(older) older objections are not shown.</p>" : nil
        return """
            <section class="panel" id="objections"><h2>Objections \
            <small>\(contest.body.objections)</small></h2>
            \(HTML.list(columns, rows))\(note)</section>
            """
    }

    /// The prizes by the current scores. If the contest is settled, these are the prizes that were
    /// paid.
    private var prizes: HTML? {
        guard contest.body.revision > 0, contest.state != .cancelled else { return nil }
        let plan = result.plan
        let rows = plan.payouts.prefix(Self.rowLimit).map { payout -> HTML in
            """
            <tr><td>\(payout.standing.rank ?? 0)</td>\
            <td class="what"><bdi>\(payout.standing.entry.body.name)</bdi></td>\
            <td class="n">\(money(payout.amount))</td></tr>
            """
        }
        let columns = [("Rank", ""), ("Name", "what"), ("Prize", "n")]
        let part = plan.division
        return """
            <section class="panel" id="prizes"><h2>\
            \(contest.state == .settled ? "Prizes" : "Prizes, if it ended now") \
            <small>\(money(part.pool))</small></h2>\(HTML.list(columns, Array(rows)))
            \(Self.rest(of: plan.payouts.count, "prizes"))
            <p class="quiet">Your part is \(money(part.rake - part.commission)), the house's
            \(money(part.commission)).</p></section>
            """
    }

    private var entrants: HTML? {
        guard !isEnabled("score"), !result.standings.isEmpty else { return nil }
        let rows = result.standings.prefix(Self.rowLimit).map { standing -> HTML in
            """
            <tr><td>\(standing.entry.number)</td>\
            <td class="what"><bdi>\(standing.entry.body.name)</bdi></td>\
            <td class="n">\(standing.result.map { "\($0.points)" } ?? "–")</td></tr>
            """
        }
        let columns = [("Entry", ""), ("Name", "what"), ("Points", "n")]
        return """
            <section class="panel" id="entrants"><h2>Entrants</h2>
            \(HTML.list(columns, Array(rows)))
            \(Self.rest(of: result.standings.count, "entrants"))</section>
            """
    }

    /// Returns the sentence below a table with more rows than it shows; `nil` if it shows all.
    static func rest(of count: Int, _ what: String, _ fix: String = "") -> HTML? {
        guard count > rowLimit else { return nil }
        return "<p class=\"quiet\">The first \(rowLimit) of \(count) \(what) are here.\(fix)</p>"
    }
}
