internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

extension ContestRoutes {
    static let defaultLimit: Int64 = 25

    /// Lists contests, newest first: by page number, or after a cursor.
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
        let limit = try query.integer("limit", in: 1...100) ?? Self.defaultLimit
        let cursor = try Self.cursor(&query)
        try query.end()
        guard page == nil || cursor == nil else {
            throw Problem.invalid("page and cursor do not go together.")
        }
        let list: ContestList
        if mine != nil {
            guard let viewer else { throw Problem.unauthorizedList }
            list = try await own(state, page: page, cursor, limit: limit, viewer, request)
        } else {
            list = try await cards(
                in: state,
                page: page,
                behind: cursor,
                limit: limit,
                for: viewer,
                request
            )
        }
        return try Reply.json(list)
    }

    /// Reads the cursor of a list.
    static func cursor(_ query: inout QueryParameters) throws -> RecordID? {
        try query.text("cursor").map { text in
            guard let id = ContestID.parse(text) else { throw Problem.unknownCursor }
            return id
        }
    }

    /// Returns a page of the public contests: by page number, or after a cursor.
    func cards(
        in state: ContestState? = nil,
        page number: Int64? = nil,
        behind cursor: RecordID? = nil,
        limit: Int64 = defaultLimit,
        for viewer: UserID?,
        _ request: Request
    ) async throws -> ContestList {
        let count = try await reader.publicCount
        var end = count + 1
        if let cursor {
            guard let place = try await reader.contest(cursor)?.body.listNumber else {
                throw Problem.unknownCursor
            }
            end = place
        }
        let page = try await reader.published(
            in: state,
            below: end,
            skipping: Int(((number ?? 1) - 1) * limit),
            limit: Int(limit)
        )
        return try await list(
            page,
            number: cursor == nil ? number ?? 1 : nil,
            limit: limit,
            total: state == nil ? count : Int64(page.skipped + page.contests.count),
            viewer,
            request
        )
    }

    private func own(
        _ state: ContestState?,
        page number: Int64?,
        _ cursor: RecordID?,
        limit: Int64,
        _ viewer: UserID,
        _ request: Request
    ) async throws -> ContestList {
        // Each contest and entry is a read of its own.
        let page = try await reader.heavyReads.run {
            try await reader.contests(
                of: viewer,
                in: state,
                before: cursor,
                skipping: Int(((number ?? 1) - 1) * limit),
                limit: Int(limit)
            )
        }
        return try await list(
            page,
            number: cursor == nil ? number ?? 1 : nil,
            limit: limit,
            total: Int64(page.skipped + page.contests.count),
            viewer,
            request
        )
    }

    /// - Parameter number: The page number; `nil` for a page after a cursor.
    private func list(
        _ page: ContestReader.Page,
        number: Int64?,
        limit: Int64,
        total: Int64,
        _ viewer: UserID?,
        _ request: Request
    ) async throws -> ContestList {
        var cards: [ContestCard] = []
        for contest in page.contests {
            cards.append(try await summary(of: contest, for: viewer, in: request.language).card)
        }
        return ContestList(
            contests: cards,
            limit: WireCount(limit),
            nextCursor: page.next?.rawValue,
            page: number.map { WireCount($0) },
            totalCount: WireCount(total)
        )
    }

    /// Returns a contest as a list shows it, without the entry, the objections and the result.
    func summary(
        of contest: Contest,
        for viewer: UserID?,
        in language: Language
    ) async throws -> ContestView {
        ContestView(
            contest: contest,
            template: try await reader.template(of: contest),
            viewer: viewer,
            origin: options.origin,
            language: language,
            now: ledger.now
        )
    }
}

extension Problem {
    fileprivate static var unauthorizedList: Problem {
        Problem(.unauthorized, detail: "Listing one's own contests needs a token.")
    }

    fileprivate static var unknownCursor: Problem {
        .invalid("cursor must be one that this call returned.")
    }
}
