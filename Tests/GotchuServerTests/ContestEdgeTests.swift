import Foundation
import GotchuAPI
import GotchuCore
import Ledger
import TestSupport
import Testing

/// Tests of contests with concurrent calls, bad input and new templates.
@Suite("Contests with concurrent calls or unusual input")
struct ContestEdgeTests {
    @Test("If two servers settle and cancel a contest at once, it is either settled or cancelled")
    func twoServers() async throws {
        let rig = try await ContestRig(.postgresql, more: ["--calls-per-second", "1000"])
        let other = try await ServerProcess(
            folder: try TemporaryFolder(),
            database: rig.database.address,
            more: ["--contests", "--calls-per-second", "1000"]
        )
        let users = try await rig.users(3)
        for round in 0..<6 {
            let id = try await rig.published()
            for user in users { #expect(try await rig.join(id, by: user).status == 200) }
            try await rig.post(id, "lock")
            let scores = (1...3).map { #"{"entry_number":\#($0),"points":\#($0)}"# }
            let body = #"{"base_revision":0,"scores":[\#(scores.joined(separator: ","))]}"#
            try await rig.post(id, "scores", body)
            let before = try await balances(rig, users)
            try await rig.post(id, "complete", #"{"revision":1}"#)
            let ends = try await withThrowingTaskGroup(of: String.self) { group in
                for call in 0..<16 {
                    let wire = call.isMultiple(of: 2) ? rig.wire : other.wire
                    let isCancel = call % 3 == round % 3
                    let path = "/api/contests/\(id)/\(isCancel ? "cancel" : "settle")"
                    let body = isCancel ? #"{"reason":"Rain."}"# : "{}"
                    group.addTask {
                        let reply = try await wire.post(
                            path,
                            body,
                            token: rig.organizer,
                            key: ContestRig.key()
                        )
                        guard reply.status == 200 else { return reply.code ?? "" }
                        return isCancel ? "cancelled" : "settled"
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            let won = ends.contains("settled")
            #expect(ends == [won ? "settled" : "cancelled", "CONTEST_STATE"], "\(ends)")
            let after = try await balances(rig, users)
            let gains = zip(before, after).map { $1 - $0 }
            #expect(gains == (won ? [0, 0, 1_500] : [500, 500, 500]))
        }
        _ = try await other.stop()
        try await rig.verify()
    }

    @Test("Two servers that process cancellations and leaves at once refund each fee once")
    func leaves() async throws {
        let rig = try await ContestRig(.postgresql, more: ["--calls-per-second", "1000"])
        let other = try await ServerProcess(
            folder: try TemporaryFolder(),
            database: rig.database.address,
            more: ["--contests", "--calls-per-second", "1000"]
        )
        let users = try await rig.users(4)
        for _ in 0..<6 {
            let id = try await rig.published()
            for user in users { #expect(try await rig.join(id, by: user).status == 200) }
            func call(_ wire: Wire, _ verb: String, _ token: String) async throws -> String {
                let path = "/api/contests/\(id)/\(verb)"
                let body = verb == "cancel" ? #"{"reason":"Rain."}"# : "{}"
                let reply = try await wire.post(path, body, token: token, key: ContestRig.key())
                return reply.status == 200 ? verb : reply.code ?? ""
            }
            let ends = try await withThrowingTaskGroup(of: String.self) { group in
                for (number, user) in users.enumerated() {
                    for wire in [rig.wire, other.wire] {
                        group.addTask { try await call(wire, "leave", user) }
                    }
                    guard number.isMultiple(of: 2) else { continue }
                    let wire = number == 0 ? rig.wire : other.wire
                    group.addTask { try await call(wire, "cancel", rig.organizer) }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            let possible: Set = ["leave", "cancel", "CONTEST_CANCELLED", "NOT_JOINED"]
            #expect(ends.isSubset(of: possible) && ends.contains("cancel"), "\(ends)")
            #expect(try await balances(rig, users) == [10_000, 10_000, 10_000, 10_000])
        }
        _ = try await other.stop()
        try await rig.verify()
    }

    private func balances(_ rig: ContestRig, _ users: [String]) async throws -> [Int64] {
        var balances: [Int64] = []
        for user in users { balances.append(try await rig.wire.balance(user) ?? 0) }
        return balances
    }

    @Test(
        "A refused join is refused again with the same key and decided anew with a new key",
        arguments: DatabaseKind.single
    )
    func refusals(kind: DatabaseKind) async throws {
        let rig = try await ContestRig(kind)
        let id = try await rig.published(ContestRig.body(more: #","max_entries":2"#))
        let users = try await rig.users(3)
        for user in users.prefix(2) { _ = try await rig.join(id, by: user) }
        let key = ContestRig.key()
        let full = try await rig.join(id, by: users[2], key: key)
        #expect(full.code == "CONTEST_FULL")
        #expect(try await rig.post(id, "leave", by: users[0]).status == 200)
        let again = try await rig.join(id, by: users[2], key: key)
        #expect(again.code == "CONTEST_FULL" && again.headers["idempotent-replayed"] == "true")
        #expect(try await rig.join(id, by: users[2], key: ContestRig.key()).status == 200)
        #expect(try await balances(rig, users) == [10_000, 9_500, 9_500])
        try await rig.verify()
    }

    @Test("A client that pages through a growing list gets each older contest once")
    func paging() async throws {
        let rig = try await ContestRig(.sqlite, more: ["--calls-per-second", "1000"])
        var made: [String] = []
        for _ in 0..<7 { made.append(try await rig.published()) }
        var seen: [String] = []
        var cursor: String? = ""
        while let here = cursor {
            let query = here.isEmpty ? "?limit=2" : "?limit=2&cursor=\(here)"
            let page = try await rig.list(query)
            let cards = try #require(page.members["contests"] as? [[String: Any]])
            seen += cards.compactMap { $0["id"] as? String }
            cursor = page.members["next_cursor"] as? String
            _ = try await rig.published()
        }
        #expect(seen == made.reversed())
    }

    @Test("A contest of a template that an operator adds has the template's type and columns")
    func template() async throws {
        let rig = try await ContestRig(.sqlite)
        let page = try String(contentsOfFile: Python.file("docs/contests.md"), encoding: .utf8)
        let parts = page.components(separatedBy: "```json\n")
        let example = try #require(parts.dropFirst().first?.components(separatedBy: "```").first)
        let file = try rig.documents.write(example, to: "template.txt")
        let added = try await ServerProcess.run(
            "contests",
            "template-add",
            file,
            "--database",
            rig.database.address
        )
        #expect(added.code == 0, "\(added.text)")
        try FileManager.default.removeItem(atPath: file)
        let darts = "01999f00-0000-7000-8000-0000000000d1"
        let id = try await rig.published(ContestRig.body(template: darts))
        let user = try await rig.users(1)[0]
        _ = try await rig.join(id, by: user)
        #expect(try await rig.show(id, by: user).string("type") == "darts")
        _ = try await rig.settled(id, [1: 180])
        let board = try await rig.board(id, by: user)
        let keys = (board.members["columns"] as? [[String: Any]])?.map { $0["key"] as? String }
        #expect(keys == ["rank", "player", "points", "darts", "prize"])
        _ = try await rig.list()
        try await rig.validateDocuments()
        try await rig.verify()
    }

    @Test(
        "A template's image is served, and an image with a script or at a wrong path is refused"
    )
    func image() async throws {
        let rig = try await ContestRig(.sqlite)
        let folder = try TemporaryFolder()
        let drawing = #"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>"#
        _ = try folder.write(drawing, to: "good.svg")
        _ = try folder.write(#"<svg onload="alert(1)"></svg>"#, to: "bad.svg")
        func add(_ image: String, _ number: Int) async throws -> (code: Int32, text: String) {
            let page = try String(contentsOfFile: Python.file("docs/contests.md"), encoding: .utf8)
            let parts = page.components(separatedBy: "```json\n")
            let example = try #require(
                parts.dropFirst().first?.components(separatedBy: "```").first
            )
            let text = example.replacing("https://pub.example/darts.png", with: image)
                .replacing("0000000000d1", with: "0000000000e\(number)")
            return try await ServerProcess.run(
                "contests",
                "template-add",
                try folder.write(text, to: "\(number).json"),
                "--database",
                rig.database.address
            )
        }
        #expect(try await add("good.svg", 1).code == 0)
        // The last name leads to the valid image, but through another folder.
        let folderName = URL(fileURLWithPath: folder.path).lastPathComponent
        let names = ["bad.svg", "none.svg", "../\(folderName)/good.svg"]
        for (number, name) in names.enumerated() {
            let refused = try await add(name, number + 2)
            #expect(refused.code != 0 && refused.text.contains("heroImage"), "\(refused.text)")
        }
        let template = "01999f00-0000-7000-8000-0000000000e1"
        _ = try await rig.published(ContestRig.body(template: template))
        _ = try await rig.published()
        let cards = try #require(try await rig.list().members["contests"] as? [[String: Any]])
        let paths = cards.compactMap { card in
            (card["presentation"] as? [String: Any])?["hero_image_url"] as? String
        }
        #expect(paths.count == 2)
        for path in paths {
            let image = try await rig.wire.get(path)
            #expect(image.status == 200 && image.headers["content-type"] == "image/svg+xml")
        }
        #expect(try await rig.wire.get(paths[1]).text == drawing)
        #expect(try await rig.wire.get("/contest-assets/none.png").code == "NOT_FOUND")
        try await rig.verify()
    }

    @Test("A backup with an open contest passes verification, and a server can cancel the contest")
    func backup() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        let users = try await rig.users(2)
        for user in users { _ = try await rig.join(id, by: user) }
        let folder = try TemporaryFolder()
        let copy = folder.path + "/copy.db"
        let made = try await ServerProcess.run("backup", copy, "--database", rig.database.address)
        #expect(made.code == 0, "\(made.text)")
        _ = try await rig.settled(id, [1: 1, 2: 2])
        try await rig.verify()
        let verified = try await ServerProcess.run("verify", "--database", "sqlite:\(copy)")
        #expect(verified.code == 0, "\(verified.text)")
        let server = try await ServerProcess(
            folder: folder,
            database: "sqlite:\(copy)",
            more: ["--contests"]
        )
        let organizer = try await server.wire.login("organizer")
        let cancelled = try await server.wire.post(
            "/api/contests/\(id)/cancel",
            #"{"reason":"An old backup."}"#,
            token: organizer,
            key: ContestRig.key()
        )
        #expect(cancelled.string("state") == "CANCELLED", "\(cancelled.text)")
        #expect(try await server.wire.balance(server.wire.login("entrant1")) == 10_000)
    }

    @Test("A score with a wrong value, and a second score of the same entry, are refused")
    func values() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        for user in try await rig.users(2) { _ = try await rig.join(id, by: user) }
        try await rig.post(id, "lock")
        for (values, words) in [
            (#"{"seconds":"12.5"}"#, "seconds must be a whole number"),
            (#"{"second":12}"#, "they may have seconds"), (#"{"seconds":1e3}"#, "values must be"),
        ] {
            let body = """
                {"base_revision":0,"scores":[\
                {"entry_number":1,"points":40,"values":{"seconds":9}},\
                {"entry_number":2,"points":40,"values":\(values)}]}
                """
            let reply = try await rig.post(id, "scores", body)
            #expect(reply.status == 400 && reply.text.contains(words), "\(reply.text)")
        }
        let two = #"{"entry_number":1,"points":1},{"entry_number":1,"points":9}"#
        let reply = try await rig.post(id, "scores", #"{"base_revision":0,"scores":[\#(two)]}"#)
        #expect(reply.status == 400 && reply.text.contains("once"), "\(reply.text)")
        let stored = try rig.database.rows(
            1,
            "SELECT id FROM records WHERE kind = 'contest-scores'"
        )
        #expect(stored.isEmpty)
        try await rig.verify()
    }

    @Test("Mutated scores are refused or stored as valid scores")
    func scores() async throws {
        let rig = try await ContestRig(.sqlite, more: ["--calls-per-second", "10000"])
        let id = try await rig.published()
        _ = try await rig.join(id, by: try await rig.users(1)[0])
        try await rig.post(id, "lock")
        var random = SeededGenerator("spoilt scores")
        let good =
            #"{"base_revision":0,"scores":[{"entry_number":1,"points":7,"values":{"seconds":1}}]}"#
        var statuses: [Int: Int] = [:]
        for left in (0..<(300 * effort)).reversed() {
            let body = left == 0 ? good : Mutation.mutated(good, using: &random)
            let reply = try await rig.post(id, "scores", body)
            statuses[reply.status, default: 0] += 1
            #expect([200, 400, 409, 422].contains(reply.status), "\(body): \(reply.text)")
        }
        #expect(statuses[400, default: 0] > 50, "\(statuses)")
        let stored = try rig.database.rows(
            1,
            "SELECT body FROM records WHERE kind = 'contest-scores'"
        )
        #expect(!stored.isEmpty, "\(statuses)")
        for row in stored {
            let body = try JSONDecoder().decode(JSONValue.self, from: Data((row.first ?? "").utf8))
            guard case .object(let members) = body, case .array(let scores) = members["scores"],
                case .object(var score) = scores.first
            else {
                Issue.record("stored: \(row)")
                continue
            }
            let entry = score.removeValue(forKey: "entry")
            #expect(scores.count == 1 && entry == .integer(1), "\(row)")
            if case .object(let values) = score.removeValue(forKey: "values") {
                #expect(values.allSatisfy { $0 == "seconds" && $1.isInteger }, "\(row)")
            }
            #expect(score.allSatisfy { $0 == "points" && $1.isInteger }, "\(row)")
        }
        try await rig.verify()
    }

    @Test("A mutated document is either refused or decoded to values that its text contains")
    func documents() async throws {
        let rig = try await ContestRig(.sqlite)
        let id = try await rig.published()
        let user = try await rig.users(1)[0]
        _ = try await rig.join(id, by: user)
        _ = try await rig.settled(id, [1: 3])
        let detail = try await rig.show(id, by: user).text
        let board = try await rig.board(id, by: user).text
        var random = SeededGenerator("spoilt documents")
        var refused = 0
        for _ in 0..<(5_000 * min(effort, 4)) {
            refused +=
                try read(ContestDetail.self, Mutation.mutated(detail, using: &random)) ? 0 : 1
            refused += try read(Leaderboard.self, Mutation.mutated(board, using: &random)) ? 0 : 1
        }
        #expect(refused > 2_000)
        for name in try #require(
            JSONSerialization.jsonObject(with: Data(detail.utf8)) as? [String: Any]
        ).keys.sorted() {
            var members = try #require(
                JSONSerialization.jsonObject(with: Data(detail.utf8)) as? [String: Any]
            )
            members[name] = ["an": ["object": [1]]]
            let text = String(
                decoding: try JSONSerialization.data(withJSONObject: members),
                as: UTF8.self
            )
            #expect(try !read(ContestDetail.self, text), "\(name)")
        }
    }

    /// Decodes a document, and checks that the text contains each decoded value. Returns false if
    /// the text cannot be decoded.
    private func read<Document: Codable & Equatable>(
        _ type: Document.Type,
        _ text: String
    ) throws -> Bool {
        guard let document = try? JSONDecoder().decode(type, from: Data(text.utf8)) else {
            return false
        }
        // A document with a fraction can be decoded but not encoded, so it is not checked.
        guard let bytes = try? JSONEncoder().encode(document) else { return true }
        let written = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(
            try JSONDecoder().decode(JSONValue.self, from: bytes).isContained(in: written),
            "\(text)"
        )
        return true
    }
}

extension JSONValue {
    fileprivate var isInteger: Bool { if case .integer = self { true } else { false } }

    /// Returns true if each member, element and scalar is also in another value. A `null` member
    /// may be missing there, and a time may be written in another form or with a fraction.
    fileprivate func isContained(in other: JSONValue?) -> Bool {
        switch (self, other) {
        case (.null, nil): true
        case (.object(let own), .object(let others)?):
            own.allSatisfy { $1.isContained(in: others[$0]) }
        case (.array(let own), .array(let others)?):
            own.count == others.count && zip(own, others).allSatisfy { $0.isContained(in: $1) }
        case (.string(let own), .string(let text)?):
            own == text
                || WireTime(own) == WireTime(text) && WireTime(own) != nil
        default: self == other
        }
    }
}
