internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// A page of a contest's standings, with the columns of the template.
struct ContestBoard: Sendable {
    /// The default number of standings on a page; `pageLimit` is the maximum.
    static let defaultPageSize: Int64 = 50
    static let pageLimit: Int64 = 200

    let view: ContestView
    let page: BoardPage

    var leaderboard: Leaderboard {
        get throws(LedgerError) {
            let contest = view.contest
            var standings: [Leaderboard.Standing] = []
            for standing in page.standings { standings.append(try wire(standing)) }
            return Leaderboard(
                contestID: try WireUUID(of: contest.id),
                state: contest.wireState,
                leaderboardState: contest.leaderboardState,
                columns: view.template.columns.map { column in
                    Leaderboard.Column(
                        key: column.key,
                        label: column.label.text(in: view.language),
                        type: column.type.rawValue,
                        align: column.isRight == true ? "right" : nil
                    )
                },
                standings: standings,
                meta: Leaderboard.Meta(
                    generatedAt: view.now,
                    revision: WireCount(contest.body.revision),
                    totalParticipants: WireCount(contest.body.entryCount)
                ),
                nextCursor: page.next.map(String.init)
            )
        }
    }

    private func wire(_ standing: Standing) throws(LedgerError) -> Leaderboard.Standing {
        let entry = standing.entry
        let prize = page.prizes[entry.number]
        return Leaderboard.Standing(
            entryID: try WireUUID(of: entry.id),
            username: entry.body.name,
            rank: standing.rank.map(WireCount.init),
            values: view.template.columns.map { cell($0, standing, prize) },
            tier: standing.tier.map { WireCount(Int64($0)) },
            payoutCents: prize.map(WireCount.init),
            isYou: view.viewer == entry.user ? true : nil,
            entryNumber: view.isOrganizer || view.viewer == entry.user
                ? WireCount(entry.number) : nil
        )
    }

    private func cell(
        _ column: ContestTemplate.Column,
        _ standing: Standing,
        _ prize: Int64?
    ) -> JSONValue {
        switch column.shows {
        case .rank: return standing.rank.map(JSONValue.integer) ?? .null
        case .name: return .string(standing.entry.body.name)
        case .points: return standing.result.map { .integer($0.points) } ?? .null
        case .prize: return prize.map(JSONValue.integer) ?? .null
        case .value:
            switch standing.result?.values[column.key] {
            case .number(let number): return .integer(number)
            case .text(let text): return .string(text)
            case nil: return .null
            }
        }
    }
}
