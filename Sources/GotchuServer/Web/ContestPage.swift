internal import GotchuAPI
internal import GotchuCore
internal import Pages

/// The page of one contest, rendered from the documents that the API sends. No code depends on the
/// contest's type.
struct ContestPage: Sendable {
    let detail: ContestDetail
    let board: Leaderboard
    let language: Language
    let zone: WebZone
    let now: Timestamp
    /// The visit of the logged-in user; `nil` without a login.
    let visit: WebVisit?
    /// The invitation token in the page's address.
    let invitation: String?
    /// The roster that was chosen in a refused form; empty if there is none.
    let chosen: [String]
    /// The server's address for browsers.
    let origin: String

    private var words: ContestPageWords { language.contestPage }
    private var path: String { "\(WebPath.contests)/\(detail.id)" }

    /// The page's path, with the invitation token if there is one.
    private var ownPath: String {
        invitation.map { "\(path)?join_token=\(WebPath.escaped($0))" } ?? path
    }

    /// - Parameter problem: The reason why the last form submission had no effect.
    func page(saying problem: Problem?) -> WebPage {
        let sections = ContestSections(language: language, zone: zone)
        return WebPage(
            title: detail.display.title,
            section: .contests,
            banner: problem.map { WebPage.Banner(Self.sentence($0), isBad: true) },
            asOf: zone.time(now, hasFullDate: true),
            language: language,
            controls: """
                \(visit == nil ? logIn : nil)\
                <a class="plain" href="\(ownPath)">\(language.wallet.refresh)</a>
                """,
            content: """
                \(summary)
                \(wallet(after: problem))
                \(actions)
                \(results)
                \(detail.sections.map(sections.panel))
                """
        )
    }

    /// The login link. It is also shown after entries have closed, because entrants can see and do
    /// more than others.
    private var logIn: HTML {
        """
        <a class="plain" href="\(WebPath.login(returningTo: ownPath))">\(words.logIn)</a>
        """
    }

    private static func sentence(_ problem: Problem) -> String {
        guard let required = problem.requiredCents, let available = problem.availableCents else {
            return problem.detail
        }
        let (rest, has) = (Money(minorUnits: required - available), Money(minorUnits: available))
        return "Nothing was charged: your wallet has \(has), and \(rest) more are needed."
    }

    private func wallet(after problem: Problem?) -> HTML? {
        guard problem?.code == ErrorCode.insufficientWalletBalance.rawValue else { return nil }
        return "<p><a class=\"main\" href=\"\(WebPath.wallet)\">\(language.pay.toWallet)</a></p>"
    }

    private var summary: HTML {
        var facts: [(String, HTML)] = [
            (words.closes, zone.time(detail.lockTime.value, hasFullDate: true)),
            (words.starts, zone.time(detail.startTime.value, hasFullDate: true)),
        ]
        if let end = detail.endTime.value {
            facts.append((words.ends, zone.time(end.value, hasFullDate: true)))
        }
        let rows = facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" as HTML }
        let text: HTML? =
            detail.display.description.isEmpty
            ? nil : "<p class=\"told\"><bdi>\(detail.display.description)</bdi></p>"
        let by: HTML? =
            detail.organizerName.isEmpty
            ? nil
            : """
            <p class="quiet"><bdi>\(words.by.filled(detail.organizerName))</bdi></p>
            """
        let entered = detail.entry.map { entry -> HTML in
            let text = words.entered.filled("\(entry.entryNumber.value)")
            return "<p><b>\(text)</b></p>"
        }
        return """
            <section class="panel">\(Self.chip(detail.state, language))\(by)\(text)\(entered)
            <dl>\(rows)\(rules)\(share)</dl></section>
            """
    }

    /// The invitation link, for users who may share it.
    private var share: HTML? {
        detail.joinToken.value.map { token in
            """
            <dt>\(words.invitation)</dt>\
            <dd><code>\(origin)\(path)?join_token=\(token)</code></dd>
            """
        }
    }

    private var rules: HTML? {
        // The address is untrusted. Only https is accepted: other schemes could run a script.
        guard let address = detail.display.rulesURL.value, address.hasPrefix("https://") else {
            return nil
        }
        return """
            <dt>\(words.rules)</dt>\
            <dd><a href="\(address)" rel="noreferrer">\(address)</a></dd>
            """
    }

    static func chip(_ state: ContestState, _ language: Language) -> HTML {
        let words = language.contests
        return switch state {
        case .scheduled: .chip("◌", language.contestPage.scheduled)
        case .locked: .chip("◷", words.closed)
        case .live: .chip("▸", words.live)
        case .complete: .chip("◷", words.review)
        case .paid: .chip("✓", words.paid, "good")
        case .cancelled: .chip("✕", words.over)
        case .error: .chip("!", words.stopped, "bad")
        }
    }

    private var results: HTML {
        let tail = invitation.map { "&join_token=\(WebPath.escaped($0))" } ?? ""
        return ContestResults(
            language: language,
            board: board,
            currency: detail.payoutTable.first?.currency ?? .usd,
            next: board.nextCursor.map { "\(path)?from=\($0)\(tail)#results" }
        ).panel
    }

    // MARK: Actions

    private var actions: HTML {
        let rows = detail.actionList.compactMap(row)
        return """
            <section class="panel" id="actions"><h2>\(words.possible)</h2>\
            <ul class="actions">\(rows)</ul></section>
            """
    }

    private func row(_ action: ContestAction) -> HTML? {
        guard action.enabled else {
            guard let reason = action.reason else { return nil }
            let isLogin = reason.code == ErrorCode.unauthorized.rawValue && visit == nil
            let way: HTML =
                isLogin
                ? """
                <a class="main" href="\(WebPath.login(returningTo: ownPath))">\(words.logIn)</a>
                """
                : "<span class=\"quiet\">\(reason.text)</span>"
            return "<li><b><bdi>\(action.label)</bdi></b> \(way)</li>"
        }
        guard let way = way(of: action) else { return nil }
        return "<li>\(way)</li>"
    }

    /// Returns the form or link of an action by its id. For an unknown action it is a link to the
    /// organiser's page, or a sentence for users who are not the organiser. `nil` for the
    /// settlement, and for a form without a login.
    private func way(of action: ContestAction) -> HTML? {
        switch action.id {
        case "leaderboard": "<a class=\"plain\" href=\"#results\">\(action.label)</a>"
        // The results already show the settlement.
        case "settlement": nil
        case "join":
            form(
                action,
                "main",
                HTML.hidden("entry_fee_cents", "\(detail.entryFeeCents.value)")
            )
        case "leave": form(action, "danger", nil)
        case "roster": roster(action)
        case "object": objection(action)
        case _ where detail.actions.canManageContest || detail.actions.canDelete:
            """
            <a class="plain" href="\(WebPath.ownContests)/\(detail.id.description)">\
            \(action.label)</a>
            """
        default:
            "<b><bdi>\(action.label)</bdi></b> <span class=\"quiet\">\(words.elsewhere)</span>"
        }
    }

    private func form(_ action: ContestAction, _ style: String, _ fields: HTML?) -> HTML? {
        let key = HTML.hidden("key", IdempotencyKey.random().rawValue)
        let token = invitation.map { HTML.hidden("join_token", $0) }
        let question = action.confirm.map { "<p class=\"quiet\">\($0)</p>" as HTML }
        return visit?.form(
            to: "\(path)/\(action.id)",
            "\(key)\(token)\(fields)\(question)<button class=\"\(style)\">\(action.label)</button>"
        )
    }

    private func objection(_ action: ContestAction) -> HTML? {
        visit?.form(
            to: "\(path)/object",
            style: "stack",
            """
            <label>\(words.objection)<input name="text" required maxlength="280" \
            autocomplete="off"></label><button class="plain">\(action.label)</button>
            """
        )
    }

    // MARK: The roster

    /// Returns the name of the form field for a roster place.
    static func place(_ number: Int) -> String { "place-\(number)" }

    /// Returns a form with a choice of players for each roster place. The players come from the
    /// document.
    private func roster(_ action: ContestAction) -> HTML? {
        let section = detail.sections.first { $0.type == "roster_config" }
        guard let config = section.flatMap({ RosterForm($0.data) }) else { return nil }
        let own = detail.entry?.roster.map(\.playerID.description) ?? []
        let known = chosen.isEmpty ? own : chosen
        let places = (0..<config.size).map { index -> HTML in
            let position = index < config.positions.count ? config.positions[index] : nil
            let options = config.players.filter { position == nil || $0.position == position }
                .map { player -> HTML in
                    let isChosen = index < known.count && known[index] == player.id
                    let mark: HTML? = isChosen ? " selected" : nil
                    return """
                        <option value="\(player.id)"\(mark)>\(player.name) · \(player.position) \
                        · \(player.salary)</option>
                        """
                }
            return """
                <label>\(words.place) \(index + 1)\(position.map { " · \($0)" } ?? "")\
                <select name="\(Self.place(index + 1))"><option value="">–</option>\(options)\
                </select></label>
                """
        }
        let cap = config.cap.map { cap -> HTML in
            "<p class=\"quiet\">\(words.cap.filled("\(cap)"))</p>"
        }
        return visit?.form(
            to: "\(path)/roster",
            style: "stack",
            "<h3>\(action.label)</h3>\(cap)\(places)<button class=\"main\">\(words.save)</button>"
        )
    }
}

/// The page of the contest list, rendered from the document that the API sends.
struct ContestListPage: Sendable {
    let list: ContestList
    let language: Language
    let visit: WebVisit?

    private var words: ContestPageWords { language.contestPage }

    var page: WebPage {
        let organize: HTML? =
            visit?.allows(.payee) == true
            ? "<a class=\"plain\" href=\"\(WebPath.ownContests)\">\(words.organize)</a>" : nil
        let login: HTML? =
            visit == nil
            ? """
            <a class="plain" href="\(WebPath.login(returningTo: WebPath.contests))">\
            \(words.logIn)</a>
            """ : nil
        return WebPage(
            title: language.layout.contests,
            section: .contests,
            language: language,
            controls: "\(organize)\(login)",
            content: list.contests.isEmpty
                ? "<section class=\"panel empty\"><b>\(words.none)</b>\(more)</section>" : table
        )
    }

    private var table: HTML {
        let rows = list.contests.map { card -> HTML in
            let fee = Money(
                minorUnits: card.entry.entryFeeCents.value,
                currency: card.entry.currency
            )
            let text =
                fee.minorUnits == 0 ? language.contests.free : language.contests.text(fee)
            return """
                <tr><td class="what"><a href="\(WebPath.contests)/\(card.id.description)">\
                <bdi>\(card.display.title)</bdi></a><br>\
                <span class="quiet"><bdi>\(card.display.badge)</bdi> · \
                <bdi>\(card.display.subtitle)</bdi></span></td>\
                <td class="n">\(text)</td>\
                <td><bdi>\(card.display.statusLabel)</bdi></td></tr>

                """
        }
        let columns = [
            (language.layout.contests, "what"), (words.fee, "n"), (words.entries, ""),
        ]
        return "<section class=\"panel\">\(HTML.list(columns, rows))\(more)</section>"
    }
    /// The link to the next page; `nil` on the last page.
    private var more: HTML? {
        list.nextCursor.map { HTML.more("\(WebPath.contests)?cursor=\($0)", words.more) }
    }
}
