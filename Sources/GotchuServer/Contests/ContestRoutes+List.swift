internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

extension ContestRoutes {
    private static let usualLimit: Int64 = 25

    /// Lists contests, newest first: by page, or behind a contest, which is the cursor.
    @Sendable func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let viewer = try await viewer(of: request, context).user
        var query = try QueryParameters(request)
        let state = try query.text("state").map { text in
            guard let state = ContestState(rawValue: text) else {
                throw Problem.invalid("state must be a state of contests, such as SCHEDULED.")
            }
            return state
        }
        let mine = query.text("mine")
        guard mine == nil || mine == "1" else { throw Problem.invalid("mine must be 1.") }
        let page = try query.integer("page", in: 1...1_000_000_000)
        let limit = try query.integer("limit", in: 1...100) ?? Self.usualLimit
        let cursor = try query.text("cursor").map { text in
            guard let id = ContestID.record(text) else {
                throw Problem.invalid("cursor must be one that this call returned.")
            }
            return id
        }
        try query.end()
        guard page == nil || cursor == nil else {
            throw Problem.invalid("page and cursor do not go together.")
        }
        let all: [Contest]
        if mine != nil {
            guard let viewer else { throw Problem.unauthorizedList }
            all = try await reader.newest(of: viewer).filter { state.holds($0) }
        } else {
            all = try await shown(in: state)
        }
        let rest = cursor.map { id in all.filter { $0.id.rawValue < id.rawValue } } ?? all
        return try Reply.json(
            try await cardPage(
                of: rest,
                number: cursor == nil ? page ?? 1 : nil,
                limit: limit,
                total: all.count,
                for: viewer,
                request
            )
        )
    }

    /// Returns a page of the contests that everybody sees.
    func cards(
        page number: Int64,
        for viewer: UserID?,
        _ request: Request
    ) async throws -> ContestList {
        let all = try await shown(in: nil)
        return try await cardPage(
            of: all,
            number: number,
            limit: Self.usualLimit,
            total: all.count,
            for: viewer,
            request
        )
    }

    private func shown(in state: ContestState?) async throws(LedgerError) -> [Contest] {
        try await reader.newest { contest in
            state.holds(contest) && !contest.body.isDeleted && contest.state != .draft
                && !contest.terms.isInviteOnly
        }
    }

    /// - Parameter number: The number of the page; `nil` behind a cursor.
    private func cardPage(
        of rest: [Contest],
        number: Int64?,
        limit: Int64,
        total: Int,
        for viewer: UserID?,
        _ request: Request
    ) async throws -> ContestList {
        let skipped = Int(clamping: ((number ?? 1) - 1) * limit)
        let shown = Array(rest.dropFirst(skipped).prefix(Int(limit)))
        var cards: [ContestCard] = []
        for contest in shown { cards.append(try await card(of: contest, viewer, request)) }
        let hasMore = rest.count > skipped + shown.count
        return ContestList(
            contests: cards,
            limit: WireCount(limit),
            nextCursor: hasMore ? shown.last?.id.rawValue : nil,
            page: number.map { WireCount($0) },
            totalCount: WireCount(Int64(total))
        )
    }

    private func card(
        of contest: Contest,
        _ viewer: UserID?,
        _ request: Request
    ) async throws -> ContestCard {
        guard let template = try await reader.template(contest.terms.template) else {
            throw LedgerError.corrupt("a contest without its template")
        }
        let view = ContestView(
            contest: contest,
            template: template,
            viewer: viewer,
            entry: nil,
            hasObjected: false,
            objections: [],
            result: nil,
            language: request.language,
            now: ledger.now
        )
        return try view.card
    }
}

extension ContestState? {
    fileprivate func holds(_ contest: Contest) -> Bool { self == nil || self == contest.wireState }
}

extension Problem {
    fileprivate static var unauthorizedList: Problem {
        Problem(.unauthorized, detail: "Listing one's own contests needs a token.")
    }
}
