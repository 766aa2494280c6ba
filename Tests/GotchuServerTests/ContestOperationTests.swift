import Foundation
import Ledger
import Postgres
import SQLite
import TestSupport
import Testing

/// Tests of the operator's view of contests, and of the findings of `verify`.
@Suite("The operator's view of contests")
struct ContestOperationTests {
    @Test("The metrics count each outcome of a join, and the objections")
    func metrics() async throws {
        let rig = try await ContestRig(.sqlite)
        let terms = ContestRig.body(review: 3600, more: #","max_entries":2"#)
        let id = try await rig.published(terms)
        let users = try await rig.users(3)
        let key = ContestRig.key()
        for _ in 0..<2 { _ = try await rig.join(id, by: users[0], key: key) }
        let body = #"{"kind":"entry","contest_id":"\#(id)"}"#
        let desk = try await rig.wire.post("/sessions/create", body, token: rig.organizer)
        let sid = desk.string("sid")
        _ = try await rig.wire.lock(sid, by: users[1])
        for _ in 0..<2 { _ = try await rig.wire.send(sid, by: users[1], key: key) }
        #expect(try await rig.join(id, by: users[2]).code == "CONTEST_FULL")
        try await rig.post(id, "lock")
        let scores = #"{"base_revision":0,"scores":[{"entry_number":1,"points":7}]}"#
        try await rig.post(id, "scores", scores)
        try await rig.post(id, "complete", #"{"revision":1}"#)
        try await rig.post(id, "objections", #"{"text":"No."}"#, by: users[1])
        let page = try await rig.wire.get("/metrics").text
        for line in [
            #"joins_total{outcome="joined"} 1"#, #"joins_total{outcome="desk"} 1"#,
            #"joins_total{outcome="replayed"} 1"#, #"joins_total{outcome="refused"} 1"#,
            #"joins_total{outcome="failed"} 0"#, "objections 1", "pots_unequal 0",
            "settlements_waiting 0", "settle_seconds_count 0", "unreadable 0",
        ] {
            #expect(page.contains("\ngotchu_server_contest_\(line)\n"), "\(line)")
        }
    }

    @Test("Only listed users see all contests; others see a contest that they entered at its desk")
    func staged() async throws {
        let folder = try TemporaryFolder()
        let opening = try await ServerProcess(folder: folder)
        let reply = try await opening.wire.post(
            "/auth/dev-login",
            #"{"email":"organizer@shop.example"}"#
        )
        _ = try await opening.stop()
        let list = try folder.write("# first\n\(reply.string("user_id"))\n", to: "users")
        let server = try await ServerProcess(
            folder: folder,
            more: ["--contests"] + Browser.arguments,
            environment: ["GOTCHU_SERVER_CONTESTS_USERS_FILE": list]
        )
        let wire = server.wire
        let (organizer, other) = (try await wire.login("organizer"), try await wire.login("other"))
        #expect(try await wire.get("/api/contests", token: other).code == "NOT_FOUND")
        #expect(try await wire.get("/api/contests").code == "NOT_FOUND")
        let key = ContestRig.key()
        let body = ContestRig.body()
        let made = try await wire.post("/api/contests", body, token: organizer, key: key)
        let id = made.string("id")
        let path = "/api/contests/\(id)/publish"
        let open = try await wire.post(path, token: organizer, key: ContestRig.key())
        #expect(open.status == 200, "\(open.text)")
        let desk = #"{"kind":"entry","contest_id":"\#(id)"}"#
        let refused = try await wire.post("/sessions/create", desk, token: other)
        #expect(refused.code == "VALIDATION_ERROR")
        let sid = try await wire.post("/sessions/create", desk, token: organizer).string("sid")
        #expect(try await wire.lock(sid, by: other).status == 200)
        #expect(try await wire.get("/api/contests/\(id)", token: other).code == "NOT_FOUND")
        #expect(try await wire.send(sid, by: other, key: key).status == 200)
        #expect(try await wire.get("/api/contests/\(id)", token: other).status == 200)
        #expect(try await wire.get("/api/contests", token: other).code == "NOT_FOUND")
        try await pages(of: id, at: server)
        // Calls of a user who is not listed are rate-limited too.
        let stranger = try await wire.login("passer-by")
        var code: String?
        for _ in 0..<1_000 where code != "RATE_LIMITED" {
            code = try await wire.get("/api/contests/\(id)", token: stranger).code
        }
        #expect(code == "RATE_LIMITED")
    }

    /// Opens the pages of contests as a listed user, an entrant from the desk, another user and a
    /// visitor without a login.
    private func pages(of id: String, at server: ServerProcess) async throws {
        let listed = try await Browser.loggedIn("organizer@shop.example", at: server)
        let own = try await listed.open("/web/contests/\(id)")
        #expect(own.status == 200 && own.text.contains("href=\"/contests\""))
        #expect(try await listed.open("/contests/\(id)").status == 200)
        let entrant = try await Browser.loggedIn("other@shop.example", at: server)
        #expect(try await entrant.open("/contests/\(id)").status == 200)
        #expect(try await entrant.open("/contests").status == 404)
        let other = try await Browser.loggedIn("stranger@shop.example", at: server)
        let page = try await other.open("/web/earnings")
        #expect(page.status == 200 && !page.text.contains("/contests"))
        for path in ["/contests", "/contests/\(id)", "/web/contests", "/web/contests/\(id)"] {
            #expect(try await other.open(path).status == 404, "\(path)")
            guard path.hasPrefix("/contests") else { continue }
            #expect(try await Browser(server).open(path).status == 404, "\(path)")
        }
        let key = ContestRig.key()
        let presses = [
            ("/contests/\(id)/join", ["key": key, "entry_fee_cents": "500"]),
            ("/contests/\(id)/leave", ["key": key]), ("/contests/\(id)/object", ["text": "No."]),
            ("/web/contests", ["key": key, "title": "Mine"]),
            ("/web/contests/\(id)/cancel", ["key": key, "reason": "Rain."]),
            ("/web/contests/\(id)/scores", ["base_revision": "0", "score.1": "7"]),
        ]
        for (path, fields) in presses {
            #expect(try await other.send(path, fields, from: page).status == 404, "\(path)")
        }
    }

    /// SQL changes that no gotchu program makes, each with the SQL that reverts the change and the
    /// broken rule of the audit.
    private static let damages: [(change: String, undo: String, rule: String)] = [
        body("contest-scores", #""points":9"#, #""points":8"#, "contests"),
        body("contest-entry", #""fee":500"#, #""fee":400"#, "contests"),
        body("contest", #""rakeBPS":0"#, #""rakeBPS":100"#, "contests"),
        body("contest", #""declarations":1"#, #""declarations":2"#, "contests"),
        body("group", #""sold":1"#, #""sold":2"#, "groups"),
        (
            "UPDATE records SET state = 'out' WHERE kind = 'contest-entry'",
            "UPDATE records SET state = 'in' WHERE kind = 'contest-entry'", "contests"
        ),
        (
            "UPDATE names SET name = 'x' || name WHERE name LIKE 'contest-entry:%'",
            "UPDATE names SET name = substr(name, 2) WHERE name LIKE 'xcontest-entry:%'",
            "contest entries"
        ),
    ]

    private static func body(
        _ kind: String,
        _ old: String,
        _ new: String,
        _ rule: String
    ) -> (change: String, undo: String, rule: String) {
        func replace(_ old: String, _ new: String) -> String {
            "UPDATE records SET body = replace(body, '\(old)', '\(new)') WHERE kind = '\(kind)'"
        }
        return (replace(old, new), replace(new, old), rule)
    }

    @Test(
        "An audit finds a changed score, fee, term, desk, entry or name",
        arguments: DatabaseKind.single
    )
    func damage(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let id = try await rig.published()
        let users = try await rig.users(2)
        _ = try await rig.join(id, by: users[0])
        let body = #"{"kind":"entry","contest_id":"\#(id)"}"#
        let desk = try await rig.wire.post("/sessions/create", body, token: rig.organizer)
        _ = try await rig.wire.lock(desk.string("sid"), by: users[1])
        _ = try await rig.wire.send(desk.string("sid"), by: users[1], key: ContestRig.key())
        #expect(try await rig.settled(id, [1: 3, 2: 9]).status == 200)
        _ = try await rig.server.stop()
        for damage in Self.damages {
            #expect(try rig.database.audit().isClean, "before \(damage.change)")
            try rig.database.damage(damage.change)
            let broken = try rig.database.audit().findings.filter { $0.violation != nil }.map(
                \.rule
            )
            #expect(broken.contains { $0.hasSuffix("(\(damage.rule))") }, "\(damage.change)")
            try rig.database.damage(damage.undo)
        }
    }
}

extension CheckedDatabase {
    /// Runs SQL on the database while its triggers are off; no gotchu program does that.
    func damage(_ sql: String) throws {
        switch self {
        case .sqlite(let path):
            let connection = try SQLite.Connection(path: path, mode: .readWrite)
            let triggers = try connection.query(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
                read: { (name: try $0.text(0), sql: try $0.text(1)) }
            )
            for trigger in triggers { try connection.execute("DROP TRIGGER \(trigger.name)") }
            try connection.execute(sql)
            for trigger in triggers { try connection.execute(trigger.sql) }
        case .postgresql(let url):
            let connection = try Postgres.Connection(try ConnectionSettings(url: url))
            try connection.execute("SET session_replication_role = replica; \(sql)")
        }
    }
}
