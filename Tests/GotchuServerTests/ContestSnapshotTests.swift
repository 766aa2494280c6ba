import Foundation
import TestSupport
import Testing

/// Tests of the complete documents of a contest in each state, for each kind of reader.
@Suite("The documents of a contest in each state")
struct ContestSnapshotTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Snapshots/contests.txt")

    /// Replaces ids, times, tokens and hashes, which differ between runs.
    private static func withoutVariableParts(_ text: String) -> String {
        text.replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "ID")
            .replacing(/20\d\d-\d\d-\d\dT[0-9:.]+Z/, with: "TIME")
            .replacing(/20\d\d-\d\d-\d\d \d\d:\d\d UTC/, with: "MINUTE")
            .replacing(/"[0-9a-f]{32}"/, with: "\"TOKEN\"")
            .replacing(/"[0-9a-f]{64}"/, with: "\"HASH\"")
    }

    /// Returns a document under a title, with each member on a separate line; for a refusal, the
    /// title and the code.
    private static func lines(_ title: String, _ reply: WireReply) -> String {
        guard reply.status == 200 else { return "## \(title): \(reply.code ?? "")\n" }
        return withoutVariableParts("## \(title)\n\(reply.text.replacing(",\"", with: ",\n\""))\n")
    }

    /// Returns the documents of a contest in a state, for each kind of reader.
    private func shown(
        _ rig: ContestRig,
        _ state: String,
        _ id: String,
        _ entrant: String
    ) async throws -> String {
        let first = try await rig.wire.get("/api/custom-contests/\(id)", token: entrant)
        let path = "/api/contests/\(id)/settlement"
        let documents = [
            ("organiser", try await rig.show(id, by: rig.organizer)),
            ("entrant", try await rig.show(id, by: entrant)),
            ("anybody", try await rig.show(id)), ("leaderboard", try await rig.board(id)),
            ("to the first clients", first),
            ("settlement", try await rig.wire.get(path, token: rig.organizer)),
        ]
        return documents.map { Self.lines("\(state), \($0)", $1) }.joined()
    }

    /// Returns the documents of one contest in all states up to its settlement.
    private func story(_ rig: ContestRig, _ users: [String]) async throws -> String {
        let terms = ContestRig.body(
            tiers: """
                [{"rank_min":1,"rank_max":1,"share_bps":6250},\
                {"rank_min":2,"rank_max":4,"share_bps":3750}]
                """,
            lockIn: .seconds(3_600),
            review: 10,
            more: #","rake_bps":1000,"max_entries":3,"added_prize_cents":101"#
        )
        let (token, key) = (rig.organizer, ContestRig.key())
        let made = try await rig.wire.post("/api/contests", terms, token: token, key: key)
        let id = made.string("id")
        var text = try await shown(rig, "draft", id, users[0])
        #expect(try await rig.post(id, "publish").status == 200)
        for user in users { #expect(try await rig.join(id, by: user).status == 200) }
        text += try await shown(rig, "open", id, users[0])
        let scores =
            #"{"base_revision":0,"scores":[{"entry_number":1,"points":7},"#
            + #"{"entry_number":2,"points":9,"values":{"seconds":3}}]}"#
        for (call, body, state) in [
            ("lock", "{}", "locked"), ("scores", scores, "live"),
            ("complete", #"{"revision":1}"#, "complete"),
            ("dispute", #"{"reason":"Round 3."}"#, "disputed"),
        ] {
            #expect(try await rig.post(id, call, body).status == 200, "\(call)")
            text += try await shown(rig, state, id, users[0])
        }
        try await rig.post(id, "complete", #"{"revision":1}"#)
        try await rig.post(id, "objections", #"{"text":"Round 3."}"#, by: users[0])
        text += try await shown(rig, "complete, with an objection", id, users[0])
        try await eventually("the contest is settled") {
            try await rig.show(id).string("state") == "PAID" ? true : nil
        }
        return text + (try await shown(rig, "settled", id, users[0]))
    }

    @Test("The documents of each state equal the stored snapshot")
    func states() async throws {
        let rig = try await ContestRig(.sqlite)
        let users = try await rig.users(3)
        var text = try await story(rig, users)
        let other = try await rig.published(ContestRig.body(template: ContestRig.picks))
        _ = try await rig.join(other, by: users[0])
        try await rig.post(other, "cancel", #"{"reason":"Rain."}"#)
        text += try await shown(rig, "cancelled", other, users[0])
        let known = (try? String(contentsOf: Self.file, encoding: .utf8)) ?? ""
        guard !isWritingPages else {
            return try text.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        let (new, old) = (text.split(separator: "\n"), known.split(separator: "\n"))
        let changes = new.difference(from: old).prefix(6).map { "\($0)" }
        #expect(
            text == known,
            "Tests/Snapshots/contests.txt differs; run make docs and read the diff: \(changes)"
        )
    }
}
