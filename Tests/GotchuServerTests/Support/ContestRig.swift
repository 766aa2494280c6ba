import Foundation
import GotchuCore
import TestSupport
import Testing

/// A server with contests, and an organiser. The rig stores the details, leaderboards and lists
/// that the server sends, for `validateDocuments`.
final class ContestRig: Sendable {
    let server: ServerProcess
    let database: CheckedDatabase
    let organizer: String
    let documents: TemporaryFolder

    static let quiz = "01999f00-0000-7000-8000-000000000002"
    static let picks = "01999f00-0000-7000-8000-000000000003"
    static let winnerTakesAll = #"[{"rank_min":1,"rank_max":1,"share_bps":10000}]"#

    init(_ kind: DatabaseKind, opening: Int64 = 10_000, more: [String] = []) async throws {
        let folder = try TemporaryFolder()
        documents = try TemporaryFolder()
        database = try kind.makeDatabase(in: folder)
        server = try await ServerProcess(
            folder: folder,
            database: database.address,
            opening: opening,
            more: ["--contests"] + more
        )
        organizer = try await server.wire.login("organizer")
    }

    var wire: Wire { server.wire }

    static func key() -> String { UUID().uuidString }

    /// Logs in the users `entrant1`, `entrant2` and so on, and returns their tokens.
    func users(_ count: Int) async throws -> [String] {
        var tokens: [String] = []
        for number in 1...count { tokens.append(try await wire.login("entrant\(number)")) }
        return tokens
    }

    /// Returns the body of a request for a new contest.
    ///
    /// - Parameters:
    ///   - lockIn: The time from now to the lock, which is also the start.
    ///   - review: The time for objections, in seconds.
    static func body(
        fee: Int = 500,
        template: String = quiz,
        tiers: String = winnerTakesAll,
        lockIn: Duration = .seconds(600),
        review: Int = 0,
        more: String = ""
    ) -> String {
        let locks = Timestamp.now.advanced(by: lockIn).iso8601
        return """
            {"template_id":"\(template)","title":"Pub <quiz>","description":"Ten rounds.",\
            "entry_fee_cents":\(fee),"currency":"usd","locks_at":"\(locks)",\
            "starts_at":"\(locks)","settle_after_seconds":\(review),"tiers":\(tiers)\(more)}
            """
    }

    /// Publishes a new contest and returns its id.
    func published(_ body: String = ContestRig.body()) async throws -> String {
        let made = try await wire.post("/api/contests", body, token: organizer, key: Self.key())
        #expect(made.status == 200, "\(made.text)")
        let id = made.string("id")
        let open = try await post(id, "publish")
        #expect(open.status == 200, "\(open.text)")
        return id
    }

    /// Calls an operation of a contest, as the organiser or as another user.
    @discardableResult
    func post(
        _ id: String,
        _ call: String,
        _ body: String = "{}",
        by token: String? = nil,
        key: String? = nil
    ) async throws -> WireReply {
        let needsKey = ["publish", "join", "leave", "settle", "cancel"].contains(call)
        return try await wire.post(
            "/api/contests/\(id)/\(call)",
            body,
            token: token ?? organizer,
            key: key ?? (needsKey ? Self.key() : nil)
        )
    }

    func join(
        _ id: String,
        by token: String,
        fee: Int = 500,
        key: String? = nil
    ) async throws -> WireReply {
        try await post(id, "join", #"{"entry_fee_cents":\#(fee)}"#, by: token, key: key)
    }

    func show(_ id: String, by token: String? = nil) async throws -> WireReply {
        try await store("detail", try await wire.get("/api/contests/\(id)", token: token))
    }

    func board(_ id: String, by token: String? = nil) async throws -> WireReply {
        let path = "/api/contests/\(id)/leaderboard"
        return try await store("leaderboard", try await wire.get(path, token: token))
    }

    func list(_ query: String = "", by token: String? = nil) async throws -> WireReply {
        try await store("list", try await wire.get("/api/contests\(query)", token: token))
    }

    private func store(_ kind: String, _ reply: WireReply) async throws -> WireReply {
        if reply.status == 200 {
            _ = try documents.write(reply.text, to: "\(kind).\(UUID().uuidString).json")
        }
        return reply
    }

    /// Locks, scores, completes and settles a contest. Returns the reply to the last call.
    ///
    /// - Parameter points: The points of each entry, by its number.
    func settled(_ id: String, _ points: [Int: Int]) async throws -> WireReply {
        try await complete(id, points)
        return try await post(id, "settle")
    }

    /// Locks, scores and completes a contest.
    ///
    /// - Parameter points: The points of each entry, by its number.
    func complete(_ id: String, _ points: [Int: Int]) async throws {
        let scores = points.sorted { $0.key < $1.key }.map {
            #"{"entry_number":\#($0.key),"points":\#($0.value)}"#
        }
        try await post(id, "lock")
        let scored = try await post(
            id,
            "scores",
            #"{"base_revision":0,"scores":[\#(scores.joined(separator: ","))]}"#
        )
        #expect(scored.status == 200, "\(scored.text)")
        let completed = try await post(id, "complete", #"{"revision":1}"#)
        #expect(completed.status == 200, "\(completed.text)")
    }

    /// Validates every stored document against the schema of presentation contract 1.
    func validateDocuments() async throws {
        let validator = try await Python.run(
            "presentation.py",
            [Python.file("docs/presentation-1.schema.json"), documents.path]
        )
        let code = try await validator.exitCode(within: .seconds(60))
        #expect(code == 0, "\(validator.text)")
    }

    /// Stops the server and verifies its books.
    func verify() async throws {
        _ = try await server.stop()
        let verified = try await ServerProcess.run("verify", "--database", database.address)
        #expect(verified.code == 0, "\(verified.text)")
    }
}
