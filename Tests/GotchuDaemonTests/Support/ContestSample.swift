import GotchuAPI
import GotchuCore

/// A contest as the server sends it, and an entry to the contest.
enum ContestSample {
    static let id = "01999f5e-7a10-7c31-9b1e-4a5d6c7b8a90"

    static let detail: String = {
        guard let contest = WireUUID(id) else { preconditionFailure("a UUID") }
        let time = Timestamp(milliseconds: 1_900_000_000_000)
        let detail = ContestDetail(
            id: contest,
            type: "darts",
            state: .scheduled,
            status: .active,
            leaderboardState: .open,
            display: ContestDetail.Display(title: "Darts", description: "", rulesURL: nil),
            templateID: contest,
            organizerID: contest,
            organizerName: "Corner Cafe",
            times: (time, time, time, time),
            endTime: nil,
            counts: (WireCount(1), WireCount(20)),
            entryFeeCents: WireCount(500),
            version: WireCount(2)
        )
        return String(decoding: CanonicalJSON.bytes(of: detail), as: UTF8.self)
    }()

    /// Returns an entry for a fee, as a client of the socket requests it.
    static func entry(fee: Int64 = 500, language: String? = nil) throws -> NewContestEntry {
        guard let contest = WireUUID(id) else { preconditionFailure("a UUID") }
        let fields = try JSONFields(Array(#"{"entry_fee_cents":\#(fee)}"#.utf8))
        return try NewContestEntry(contest, fields, language: language)
    }
}
