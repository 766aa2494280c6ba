import Foundation
import GotchuCore
import TestSupport
import Testing

@Suite("Contests in the HTTP API")
struct ContestTests {
    @Test(
        "A quiz is entered, scored, corrected and settled, and the books pass verification",
        arguments: DatabaseKind.all
    )
    func story(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let tiers = """
            [{"rank_min":1,"rank_max":1,"share_bps":5000},\
            {"rank_min":2,"rank_max":3,"share_bps":5000}]
            """
        let more = #","rake_bps":1000,"max_entries":3"#
        let body = ContestRig.body(tiers: tiers, review: 5, more: more)
        let id = try await rig.published(body)
        let users = try await rig.users(4)
        _ = try await rig.show(id)
        try await enter(rig, id, users)
        try await score(rig, id, users)
        _ = try await rig.board(id, by: users[0])
        // Only the organiser sees the planned payouts.
        let place = "/api/contests/\(id)/settlement"
        let plan = try await rig.wire.get(place, token: rig.organizer)
        #expect(plan.integer("pool_cents") == 1350 && plan.members["settled_at"] is NSNull)
        #expect(try await rig.wire.get(place, token: users[0]).code == "CONTEST_STATE")
        let key = ContestRig.key()
        let early = try await rig.post(id, "settle", key: key)
        #expect(early.code == "CONTEST_STATE", "\(early.text)")
        #expect(early.string("detail").hasPrefix("The time for objections ends at 20"))
        let settled = try await eventually("the contest is settled") {
            let reply = try await rig.post(id, "settle", key: key)
            return reply.status == 200 ? reply : nil
        }
        func prizes(_ reply: WireReply) -> [Int?]? {
            (reply.members["payouts"] as? [[String: Any]])?.map { $0["payout_cents"] as? Int }
        }
        #expect(prizes(settled) == [675, 675] && prizes(plan) == prizes(settled))
        // The organiser keeps $1.50 of $15.00. The shares of ranks 1 and 2 are 2 to 1; the two
        // entries tie and get equal prizes.
        #expect(settled.integer("pool_cents") == 1350 && settled.integer("rake_cents") == 150)
        let twice = try await rig.post(id, "settle")
        #expect(twice.bytes == settled.bytes && twice.headers["idempotent-replayed"] == "true")
        try await expectPaid(rig, id, users)
        let replay = try await ServerProcess.run(
            "contests",
            "replay",
            id,
            "--database",
            rig.database.address
        )
        #expect(replay.code == 0, "\(replay.text)")
        try await rig.validateDocuments()
        try await rig.verify()
    }

    /// Enters three users, the maximum. Other joins are refused, such as that of a fourth user.
    private func enter(_ rig: ContestRig, _ id: String, _ users: [String]) async throws {
        let key = ContestRig.key()
        let joined = try await rig.join(id, by: users[0], key: key)
        #expect(joined.status == 200 && joined.members["user_has_entered"] as? Bool == true)
        let again = try await rig.join(id, by: users[0], key: key)
        #expect(again.status == 200 && again.headers["idempotent-replayed"] == "true")
        #expect(try await rig.join(id, by: users[0]).code == "ALREADY_JOINED")
        #expect(try await rig.join(id, by: users[1], fee: 400).code == "AMOUNT_CHANGED")
        #expect(try await rig.join(id, by: users[1]).status == 200)
        #expect(try await rig.join(id, by: users[2]).status == 200)
        let full = try await rig.join(id, by: users[3])
        #expect(full.code == "CONTEST_FULL" && full.string("error_code") == "CONTEST_FULL")
        #expect(try await rig.join(id, by: rig.organizer).code == "OWN_CONTEST")
        #expect(try await rig.wire.balance(users[0]) == 9500)
    }

    /// Locks the contest, enters scores, and corrects the scores after an entrant's objection.
    private func score(_ rig: ContestRig, _ id: String, _ users: [String]) async throws {
        try await rig.post(id, "lock")
        #expect(try await rig.post(id, "leave", by: users[2]).code == "CONTEST_LOCKED")
        let scores = """
            {"base_revision":0,"scores":[{"entry_number":1,"points":7},\
            {"entry_number":2,"points":9}]}
            """
        let scored = try await rig.post(id, "scores", scores)
        #expect(scored.integer("revision") == 1, "\(scored.text)")
        #expect(try await rig.post(id, "scores", scores).bytes == scored.bytes)
        let late = #"{"base_revision":0,"scores":[{"entry_number":1,"points":8}]}"#
        #expect(try await rig.post(id, "scores", late).code == "SCORES_CHANGED")
        #expect(try await rig.post(id, "complete", #"{"revision":1}"#).status == 200)
        let objection = #"{"text":"Question 3 was wrong."}"#
        #expect(try await rig.post(id, "objections", objection, by: users[0]).status == 200)
        let twice = try await rig.post(id, "objections", objection, by: users[0])
        #expect(twice.code == "CONTEST_STATE")
        #expect(try await rig.post(id, "objections", objection, by: users[3]).code == "FORBIDDEN")
        let seen = try await rig.show(id, by: rig.organizer)
        #expect((seen.members["objections"] as? [Any])?.count == 1, "\(seen.text)")
        for _ in 0..<2 {
            #expect(try await rig.post(id, "dispute", #"{"reason":"Q3"}"#).status == 200)
        }
        #expect(try await rig.post(id, "settle").code == "CONTEST_DISPUTED")
        let correction = #"{"base_revision":1,"scores":[{"entry_number":1,"points":9}]}"#
        #expect(try await rig.post(id, "scores", correction).status == 200)
        #expect(try await rig.post(id, "settle").code == "CONTEST_STATE")
        #expect(try await rig.post(id, "complete", #"{"revision":2}"#).status == 200)
        // Objections to the corrected result are possible again.
        #expect(try await rig.post(id, "objections", objection, by: users[0]).status == 200)
        let words = ["revision 1 of", "stopped the settlement: Q3", "revision 2 of"]
        for user in [rig.organizer, users[0]] {
            let texts = try history(try await rig.show(id, by: user))
            #expect(texts.count == 3, "\(texts)")
            #expect(zip(texts, words).allSatisfy { $0.contains($1) }, "\(texts)")
        }
        #expect(try history(try await rig.show(id, by: users[3])).isEmpty)
    }

    /// Returns the texts of a document's history section.
    private func history(_ detail: WireReply) throws -> [String] {
        let sections = try #require(detail.members["sections"] as? [[String: Any]])
        let history = sections.first { $0["type"] as? String == "history" }
        let rows = (history?["data"] as? [String: Any])?["rows"] as? [[String: Any]] ?? []
        return rows.compactMap { $0["value"] as? String }
    }

    private func expectPaid(_ rig: ContestRig, _ id: String, _ users: [String]) async throws {
        #expect(try await rig.wire.balance(users[0]) == 9500 + 675)
        #expect(try await rig.wire.balance(users[1]) == 9500 + 675)
        #expect(try await rig.wire.balance(users[2]) == 9500)
        #expect(try await rig.wire.balance(rig.organizer) == 10_150)
        let board = try await rig.board(id, by: users[0])
        let standings = try #require(board.members["standings"] as? [[String: Any]])
        #expect(standings.map { $0["rank"] as? Int } == [1, 1, nil])
        #expect(standings.map { $0["payout_cents"] as? Int } == [675, 675, nil])
        #expect(try await rig.show(id, by: users[0]).string("state") == "PAID")
        let history = try await rig.wire.get("/api/wallet/transactions", token: users[0])
        let entries = try #require(history.members["transactions"] as? [[String: Any]])
        #expect(entries.prefix(2).allSatisfy { $0["contest_instance_id"] as? String == id })
        #expect(entries.prefix(2).map { $0["type"] as? String } == ["credit", "debit"])
    }

    @Test(
        "The cancellation of a contest refunds all fees and the added prize",
        arguments: DatabaseKind.all
    )
    func cancelled(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let id = try await rig.published(ContestRig.body(more: #","added_prize_cents":700"#))
        let users = try await rig.users(3)
        for user in users { #expect(try await rig.join(id, by: user).status == 200) }
        let left = try await rig.post(id, "leave", by: users[2])
        #expect(left.status == 200, "\(left.text)")
        #expect(try await rig.post(id, "leave", by: users[2]).code == "NOT_JOINED")
        #expect(try await rig.wire.balance(rig.organizer) == 9300)
        let cancelled = try await rig.post(id, "cancel", #"{"reason":"Rain."}"#)
        #expect(cancelled.string("state") == "CANCELLED", "\(cancelled.text)")
        let again = try await rig.post(id, "cancel", #"{"reason":"Rain."}"#)
        #expect(again.headers["idempotent-replayed"] == "true")
        for user in users + [rig.organizer] {
            #expect(try await rig.wire.balance(user) == 10_000)
        }
        let told = try history(try await rig.show(id, by: users[0]))
        #expect(told == ["The organiser cancelled: Rain."])
        #expect(try history(try await rig.show(id, by: users[2])).isEmpty)
        #expect(try await rig.join(id, by: users[0]).code == "CONTEST_CANCELLED")
        let custom = try await rig.wire.get("/api/custom-contests/\(id)", token: users[0])
        #expect(custom.string("status") == "CANCELLED")
        #expect(custom.string("leaderboard_state") == "error")
        try await rig.verify()
    }

    @Test("Ten of fifteen users who join at once get the ten places", arguments: DatabaseKind.all)
    func race(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let id = try await rig.published(ContestRig.body(more: #","max_entries":10"#))
        let users = try await rig.users(15)
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for user in users { group.addTask { try await rig.join(id, by: user).code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 10)
        #expect(codes.count { $0 == "CONTEST_FULL" } == 5)
        try await rig.verify()
    }

    @Test(
        "A user who joins several times at once, with different keys, pays once",
        arguments: DatabaseKind.all
    )
    func twice(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let id = try await rig.published()
        let user = try await rig.users(1)[0]
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { try await rig.join(id, by: user).code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == "ALREADY_JOINED" } == 7)
        #expect(try await rig.wire.balance(user) == 9500)
        try await rig.verify()
    }

    @Test(
        "Sixty-four simultaneous settlements of a contest get one reply, and pay the prize once",
        arguments: DatabaseKind.all
    )
    func settlements(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(
            kind,
            opening: 100_000,
            more: ["--calls-per-second", "1000"]
        )
        let id = try await rig.published()
        let users = try await rig.users(3)
        for user in users { _ = try await rig.join(id, by: user) }
        try await rig.complete(id, [1: 3, 2: 5, 3: 4])
        let replies = try await withThrowingTaskGroup(of: WireReply.self) { group in
            for _ in 0..<64 { group.addTask { try await rig.post(id, "settle") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.allSatisfy { $0.status == 200 })
        #expect(Set(replies.map(\.bytes)).count == 1)
        #expect(try await rig.wire.balance(users[1]) == 101_000)
        try await rig.verify()
    }

    @Test("A contest whose title is only spaces is refused")
    func blankTitle() async throws {
        let rig = try await ContestRig(.sqlite)
        let body = ContestRig.body().replacing("Pub <quiz>", with: "   ")
        let reply = try await rig.wire.post(
            "/api/contests",
            body,
            token: rig.organizer,
            key: ContestRig.key()
        )
        #expect(reply.status == 400 && reply.string("detail").hasPrefix("title "), "\(reply.text)")
    }

    @Test("To all but its organiser a draft is a contest that does not exist")
    func othersDraft() async throws {
        let rig = try await ContestRig(.sqlite)
        let made = try await rig.wire.post(
            "/api/contests",
            ContestRig.body(),
            token: rig.organizer,
            key: ContestRig.key()
        )
        let (id, other) = (made.string("id"), try await rig.users(1)[0])
        for (call, body) in [
            ("join", #"{"entry_fee_cents":500}"#), ("leave", "{}"), ("publish", "{}"),
            ("lock", "{}"), ("complete", #"{"revision":0}"#), ("cancel", #"{"reason":"Rain."}"#),
            ("objections", #"{"text":"No."}"#), ("entries", #"{"roster":[]}"#),
            ("scores", #"{"base_revision":0,"scores":[{"entry_number":9,"points":1}]}"#),
        ] {
            let reply = try await rig.post(id, call, body, by: other)
            #expect(reply.code == "CONTEST_NOT_FOUND", "\(call): \(reply.text)")
        }
        let desk = #"{"kind":"entry","contest_id":"\#(id)","amount_cents":1}"#
        let opened = try await rig.wire.post("/sessions/create", desk, token: other)
        #expect(opened.code == "CONTEST_NOT_FOUND", "\(opened.text)")
    }

    @Test("A private contest can be seen and joined only with its current invitation")
    func invitations() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published(ContestRig.body(more: #","is_invite_only":true"#))
        let users = try await rig.users(2)
        let shown = try await rig.show(id, by: rig.organizer)
        let token = shown.string("join_token")
        #expect(token.count == 32)
        #expect(try await rig.show(id, by: users[0]).code == "CONTEST_NOT_FOUND")
        let path = "/api/contests/\(id)?join_token="
        #expect(try await rig.wire.get(path + "x", token: users[0]).status == 404)
        #expect(try await rig.wire.get(path + token, token: users[0]).status == 200)
        #expect(try await rig.join(id, by: users[0]).code == "JOIN_TOKEN_REQUIRED")
        let body = #"{"entry_fee_cents":500,"join_token":"\#(token)"}"#
        #expect(try await rig.post(id, "join", body, by: users[0]).status == 200)
        let renewed = try await rig.post(id, "invite/renew")
        #expect(renewed.string("join_token") != token)
        #expect(try await rig.post(id, "join", body, by: users[1]).code == "JOIN_TOKEN_REQUIRED")
        #expect((try await rig.list().members["contests"] as? [Any])?.isEmpty == true)
        let mine = try await rig.list("?mine=1", by: users[0]).members["contests"] as? [Any]
        #expect(mine?.count == 1)
    }

    @Test("A roster is checked against its template's rule, and its points are summed")
    func rosters() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published(ContestRig.body(template: ContestRig.picks))
        let user = try await rig.users(1)[0]
        _ = try await rig.join(id, by: user)
        func player(_ number: Int) -> String {
            #"{"player_id":"01999f00-0000-7000-8000-00000000010\#(number)"}"#
        }
        let overCap = "{\"roster\":[\(player(1)),\(player(2)),\(player(3))]}"
        let refused = try await rig.post(id, "entries", overCap, by: user)
        #expect(refused.code == "ROSTER_INVALID" && refused.status == 422, "\(refused.text)")
        let good = "{\"roster\":[\(player(2)),\(player(5)),\(player(8))]}"
        let entered = try await rig.post(id, "entries", good, by: user)
        #expect(entered.integer("roster_version") == 1, "\(entered.text)")
        try await rig.post(id, "lock")
        #expect(try await rig.post(id, "entries", good, by: user).code == "CONTEST_LOCKED")
        let scores = """
            {"base_revision":0,"scores":[\
            {"player_id":"01999f00-0000-7000-8000-000000000102","points":4},\
            {"player_id":"01999f00-0000-7000-8000-000000000105","points":5},\
            {"player_id":"01999f00-0000-7000-8000-000000000101","points":90}]}
            """
        #expect(try await rig.post(id, "scores", scores).status == 200)
        let board = try await rig.board(id, by: user)
        let rows = try #require(board.members["rows"] as? [[String: Any]])
        #expect(rows.map { $0["points"] as? Int } == [9])
        try await rig.validateDocuments()
        try await rig.verify()
    }

    @Test("A server without --contests answers NOT_FOUND at the addresses of contests")
    func off() async throws {
        let server = try await ServerProcess()
        let token = try await server.wire.login("payee")
        for path in ["/api/contests", "/api/custom-contests/x", "/contests/openapi.yaml"] {
            #expect(try await server.wire.get(path, token: token).code == "NOT_FOUND")
        }
    }

    @Test("A reread of an unchanged contest gets 304, and its texts follow Accept-Language")
    func tags() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        let path = "/api/contests/\(id)"
        let tag = try #require(try await rig.show(id).headers["etag"])
        let headers = ["If-None-Match": tag]
        #expect(try await rig.wire.call("GET", path, headers: headers).status == 304)
        _ = try await rig.join(id, by: try await rig.users(1)[0])
        #expect(try await rig.wire.call("GET", path, headers: headers).status == 200)
        let german = ["Accept-Language": "de-AT,en;q=0.5"]
        let text = try await rig.wire.call("GET", path, headers: german).text
        #expect(text.contains("Teilnehmen für 5,00"), "\(text)")
    }
}
