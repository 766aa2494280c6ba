import Foundation
import TestSupport
import Testing

/// Tests of lists, leaderboards and metrics of contests among many other contests.
@Suite("Lists of contests")
struct ContestListTests {
    private func ids(_ list: WireReply) throws -> [String] {
        let cards = try #require(list.members["contests"] as? [[String: Any]], "\(list.text)")
        return cards.compactMap { $0["id"] as? String }
    }

    /// Adds copies of the only draft, with ids that sort before those of all other contests.
    private func addDrafts(_ count: Int, _ rig: ContestRig) throws {
        try rig.database.damage(
            """
            WITH RECURSIVE numbers (n) AS (
                SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count)
            )
            INSERT INTO records SELECT 'ffffffff-0000-7000-8000-' || printf('%012x', n),
                kind, owner, state, version, created_at, due_at, body
            FROM records, numbers WHERE kind = 'contest' AND state = 'draft'
            """
        )
    }

    private func draft(_ rig: ContestRig) async throws {
        let body = ContestRig.body()
        let made = try await rig.wire.post(
            "/api/contests",
            body,
            token: rig.organizer,
            key: ContestRig.key()
        )
        #expect(made.status == 200, "\(made.text)")
    }

    @Test(
        "Lists show one public contest among 2,501 drafts; metrics count it when its pot is wrong"
    )
    func drafts() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        _ = try await rig.published(ContestRig.body(more: #","is_invite_only":true"#))
        let user = try await rig.users(1)[0]
        _ = try await rig.join(id, by: user)
        try await draft(rig)
        try addDrafts(2_500, rig)
        for query in ["", "?state=SCHEDULED", "?limit=1&page=1"] {
            let list = try await rig.list(query)
            #expect(try ids(list) == [id] && list.integer("total_count") == 1, "\(list.text)")
        }
        #expect(try ids(try await rig.list("?state=LIVE")).isEmpty)
        #expect(try ids(try await rig.list("?mine=1", by: user)) == [id])
        // All pages of the organiser's own list together contain 2,501 drafts and both contests.
        var found: [String] = []
        var query = "?mine=1&limit=100"
        while found.count < 4_000 {
            let page = try await rig.list(query, by: rig.organizer)
            found += try ids(page)
            guard let next = page.members["next_cursor"] as? String else { break }
            query = "?mine=1&limit=100&cursor=\(next)"
        }
        #expect(found.count == 2_503 && Set(found).count == 2_503 && found.contains(id))

        func change(_ old: Int, _ new: Int) throws {
            let (old, new) = (#""entryCount":\#(old)"#, #""entryCount":\#(new)"#)
            try rig.database.damage(
                "UPDATE records SET body = replace(body, '\(old)', '\(new)') WHERE id = '\(id)'"
            )
        }
        try change(1, 0)
        let key = ContestRig.key()
        let reason = #"{"reason":"Rain."}"#
        let refused = try await rig.post(id, "cancel", reason, key: key)
        #expect(refused.code == "CONTEST_STATE" && refused.string("detail").contains("pot"))
        #expect(try await rig.show(id, by: user).string("state") == "ERROR")
        let metrics = try await rig.wire.get("/metrics").text
        #expect(metrics.contains("\ngotchu_server_contest_pots_unequal 1\n"), "\(metrics)")
        // A contest in the state ERROR refuses a join with a new key.
        #expect(try await rig.join(id, by: user).code == "CONTEST_LOCKED")
        try change(0, 1)
        let rechecked = try await ServerProcess.run(
            "contests",
            "recheck",
            id,
            "--database",
            rig.database.address
        )
        #expect(rechecked.code == 0 && rechecked.text.contains("open"), "\(rechecked.text)")
        let cancelled = try await rig.post(id, "cancel", reason, key: key)
        #expect(cancelled.string("state") == "CANCELLED", "\(cancelled.text)")
        #expect(cancelled.headers["idempotent-replayed"] == nil)
        #expect(try await rig.wire.balance(user) == 10_000)
    }

    @Test("A join repeated with its key succeeds even while the contest is in the state ERROR")
    func stopped() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        let user = try await rig.users(1)[0]
        let key = ContestRig.key()
        #expect(try await rig.join(id, by: user, key: key).status == 200)
        try rig.database.damage(
            """
            UPDATE records SET body = replace(body, '"entryCount":1', '"entryCount":0')
            WHERE kind = 'contest'
            """
        )
        let cancel = try await rig.post(id, "cancel", #"{"reason":"Rain."}"#)
        #expect(cancel.code == "CONTEST_STATE", "\(cancel.text)")
        let again = try await rig.join(id, by: user, key: key)
        #expect(again.status == 200 && again.string("state") == "ERROR", "\(again.text)")
        #expect(again.headers["idempotent-replayed"] == "true")
    }

    @Test("A contest stays in the state ERROR until its number of entries is right")
    func recheck() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published(ContestRig.body(fee: 0))
        let user = try await rig.users(1)[0]
        #expect(try await rig.join(id, by: user, fee: 0).status == 200)
        let (right, wrong) = (#""entryCount":1"#, #""entryCount":0"#)
        func change(_ old: String, _ new: String) throws {
            try rig.database.damage(
                "UPDATE records SET body = replace(body, '\(old)', '\(new)') WHERE id = '\(id)'"
            )
        }
        try change(right, wrong)
        // The empty pot is right, because there is no fee; only the number of entries is wrong.
        _ = try await rig.post(id, "cancel", #"{"reason":"Rain."}"#)
        #expect(try await rig.show(id, by: user).string("state") == "ERROR")
        let database = rig.database.address
        func again() async throws -> Int32 {
            try await ServerProcess.run("contests", "recheck", id, "--database", database).code
        }
        #expect(try await again() != 0)
        #expect(try await rig.show(id, by: user).string("state") == "ERROR")
        try change(wrong, right)
        #expect(try await again() == 0)
        #expect(try await rig.show(id, by: user).string("state") == "SCHEDULED")
    }

    @Test("A contest with an unreadable record is left out of lists and counted in the metrics")
    func unreadable() async throws {
        let rig = try await ContestRig(.sqlite)
        var made: [String] = []
        for _ in 0..<3 { made.append(try await rig.published()) }
        let user = try await rig.users(1)[0]
        for id in made { _ = try await rig.join(id, by: user) }
        try rig.database.damage("UPDATE records SET body = '{}' WHERE id = '\(made[1])'")
        let rest = [made[2], made[0]]
        #expect(try ids(try await rig.list()) == rest)
        for token in [user, rig.organizer] {
            #expect(try ids(try await rig.list("?mine=1", by: token)) == rest)
        }
        let metrics = try await rig.wire.get("/metrics").text
        #expect(metrics.contains("\ngotchu_server_contest_unreadable 1\n"), "\(metrics)")
    }

    @Test("Pages and cursors show each public contest once and skip a deleted one")
    func pages() async throws {
        let rig = try await ContestRig(.sqlite, more: ["--calls-per-second", "1000"])
        var made: [String] = []
        for _ in 0..<5 { made.append(try await rig.published()) }
        try await rig.post(made[3], "cancel", #"{"reason":"Rain."}"#)
        let path = "/api/contests/\(made[3])"
        let hidden = try await rig.wire.call("DELETE", path, token: rig.organizer)
        #expect(hidden.status == 204)
        let newest = Array(made.reversed())
        for query in ["?limit=2&page=1", "?limit=2"] {
            let first = try await rig.list(query)
            #expect(try ids(first) == [newest[0], newest[2]])
            #expect(first.integer("total_count") == 5)
            let cursor = try #require(first.members["next_cursor"] as? String)
            let rest = try await rig.list("?limit=2&cursor=\(cursor)")
            #expect(try ids(rest) == [newest[3], newest[4]], "\(rest.text)")
            #expect(rest.members["next_cursor"] == nil)
        }
        #expect(try ids(try await rig.list("?limit=2&page=2")) == [newest[3], newest[4]])
        #expect(try ids(try await rig.list("?limit=2&page=4")).isEmpty)
        let scheduled = try await rig.list("?state=SCHEDULED&limit=2&page=2")
        #expect(try ids(scheduled) == [newest[3], newest[4]], "\(scheduled.text)")
        #expect(try await rig.list("?cursor=\(UUID().uuidString.lowercased())").status == 400)
    }

    @Test("A list whose newest 2,500 contests were deleted continues with the older contest")
    func deleted() async throws {
        let rig = try await ContestRig(.sqlite, more: Browser.arguments)
        let id = try await rig.published()
        let count = 2_500
        let numbers = """
            WITH RECURSIVE numbers (n) AS (
                SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count)
            )
            """
        let copy = "'ffffffff-0000-7000-8000-' || printf('%012x', n)"
        try rig.database.damage(
            """
            INSERT INTO records \(numbers) SELECT \(copy), kind, owner, 'cancelled', version,
                created_at, NULL, json_set(
                    body, '$.isDeleted', json('true'), '$.listNumber', n + 1
                )
            FROM records, numbers WHERE kind = 'contest'
            """
        )
        try rig.database.damage(
            """
            INSERT INTO children \(numbers) SELECT id, n + 1, \(copy) FROM records, numbers
            WHERE kind = 'contest-index'
            """
        )
        try rig.database.damage(
            """
            UPDATE records SET version = \(count + 1), body = '{"count":\(count + 1)}'
            WHERE kind = 'contest-index'
            """
        )
        for query in ["", "?state=SCHEDULED", "?page=1"] {
            let first = try await rig.list(query)
            #expect(try ids(first).isEmpty)
            let cursor = try #require(first.members["next_cursor"] as? String, "\(first.text)")
            let rest = try await rig.list("?cursor=\(cursor)")
            #expect(try ids(rest) == [id] && rest.members["next_cursor"] == nil, "\(rest.text)")
        }
        let browser = Browser(rig.server)
        let page = try await browser.open("/contests")
        let link = try #require(page.text.firstMatch(of: /href="(\/contests\?cursor=[^"]+)"/))
        let older = try await browser.open(String(link.output.1))
        #expect(older.text.contains("/contests/\(id)") && !older.text.contains("cursor="))
    }

    @Test("The leaderboard of an open contest lists its remaining participants page by page")
    func openBoard() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        let users = try await rig.users(4)
        for user in users { _ = try await rig.join(id, by: user) }
        try await rig.post(id, "leave", by: users[1])
        var names: [String] = []
        var query = "?limit=2"
        var count = 0
        while count < 5 {
            count += 1
            let path = "/api/contests/\(id)/leaderboard\(query)"
            let board = try await rig.wire.get(path)
            let standings = try #require(board.members["standings"] as? [[String: Any]])
            names += standings.compactMap { $0["username"] as? String }
            let meta = try #require(board.members["meta"] as? [String: Any])
            #expect(meta["total_participants"] as? Int == 3)
            guard let next = board.members["next_cursor"] as? String else { break }
            query = "?limit=2&cursor=\(next)"
        }
        #expect(names == ["entrant1", "entrant3", "entrant4"] && count == 3)
    }

    @Test("An organiser sees the newest fifty of 53 objections and their total number")
    func objections() async throws {
        let more = ["--calls-per-second", "1000"]
        let rig = try await ContestRig(.sqlite, more: more)
        let id = try await rig.published(ContestRig.body(review: 3600))
        let users = try await rig.users(53)
        for user in users { #expect(try await rig.join(id, by: user).status == 200) }
        try await rig.post(id, "lock")
        let scores = #"{"base_revision":0,"scores":[{"entry_number":1,"points":1}]}"#
        try await rig.post(id, "scores", scores)
        try await rig.post(id, "complete", #"{"revision":1}"#)
        for (number, user) in users.enumerated() {
            let body = #"{"text":"Objection \#(number + 1)."}"#
            #expect(try await rig.post(id, "objections", body, by: user).status == 200)
        }
        let detail = try await rig.show(id, by: rig.organizer)
        #expect(detail.integer("objection_count") == 53)
        let shown = try #require(detail.members["objections"] as? [[String: Any]])
        let texts = shown.compactMap { $0["text"] as? String }
        #expect(texts == (4...53).map { "Objection \($0)." })
        try await rig.validateDocuments()
    }

    @Test(
        "A creation repeated with its key returns the draft after its lock time or a new commission"
    )
    func idempotentDraft() async throws {
        let folder = try TemporaryFolder()
        func server(_ commission: String) async throws -> ServerProcess {
            try await ServerProcess(
                folder: folder,
                more: ["--contests", "--contest-commission-bps", commission]
            )
        }
        let (body, key) = (ContestRig.body(lockIn: .seconds(2)), ContestRig.key())
        func create(_ server: ServerProcess, _ body: String) async throws -> WireReply {
            let organizer = try await server.wire.login("organizer")
            return try await server.wire.post("/api/contests", body, token: organizer, key: key)
        }
        let first = try await server("0")
        let made = try await create(first, body)
        #expect(made.status == 200, "\(made.text)")
        _ = try await first.stop()
        let second = try await server("100")
        let again = try await create(second, body)
        #expect(again.string("id") == made.string("id"), "\(again.text)")
        let token = try await second.wire.login("organizer")
        let past = try await eventually("the lock time of the body has passed") {
            let other = try await second.wire.post(
                "/api/contests",
                body,
                token: token,
                key: ContestRig.key()
            )
            return other.status == 400 ? other : nil
        }
        #expect(past.string("detail").contains("locks_at"), "\(past.text)")
        let late = try await create(second, body)
        #expect(late.string("id") == made.string("id"), "\(late.text)")
        let other = try await create(second, ContestRig.body(fee: 600))
        #expect(other.code == "IDEMPOTENCY_KEY_REUSED", "\(other.text)")
    }
}
