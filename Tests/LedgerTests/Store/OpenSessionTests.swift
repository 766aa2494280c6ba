import Foundation
import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

/// The table in which PostgreSQL keeps count of them.
@Suite("Open sessions", .timeLimit(.minutes(hangLimit)))
struct OpenSessionTests {
    private static let count = "SELECT session_id || ' ' || due_at FROM open_sessions"

    @Test("are those that time can still change, each with when it does")
    func due() async throws {
        let books = try StoreKind.postgresql.makeBooks()
        let store = try books.open()
        try await store.take(.open(user: 0), .open(user: 1))
        try await store.take(
            .create(session: 0, payee: 0, amount: 5, seconds: 300, proposesTaken: false)
        )
        #expect(try books.texts(Self.count) == ["session-0 301000"])
        try await store.take(.lock(session: 0, user: 1))
        #expect(try books.texts(Self.count) == ["session-0 61000"])
        try await store.take(.unlock(session: 0, user: 1))
        #expect(try books.texts(Self.count) == ["session-0 301000"])
        try await store.take(.lock(session: 0, user: 1))
        try await store.take(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(try books.texts(Self.count) == [])
        try await store.take(.refund(session: 0, user: 0, key: 0, amount: 2))
        #expect(try books.texts(Self.count) == [])
        #expect(try books.audit().isClean)
    }

    @Test("are those no more that were over already when time is asked about them")
    func over() async throws {
        let books = try await Planted.books(.postgresql)
        try books.execute("INSERT INTO open_sessions VALUES ('user-0', 'session-0', 1)")
        let store = try books.open()
        let due = try await store.due(at: Timestamp(milliseconds: 2), limit: 2)
        #expect(due.map(\.rawValue) == ["session-0"])
        try await store.take(.expire(session: 0))
        #expect(try await store.due(at: Timestamp(milliseconds: 2), limit: 2) == [])
        #expect(try books.audit().isClean)
    }

    @Test(
        "are proved by the audit",
        arguments: [
            ("DELETE FROM open_sessions", "session-1 is missing in open_sessions"),
            (
                "INSERT INTO open_sessions VALUES ('user-0', 'session-0', 1)",
                "session-0 is not open, and in open_sessions"
            ),
            (
                "UPDATE open_sessions SET due_at = due_at + 1",
                "session-1 is otherwise in open_sessions"
            ),
            (
                "UPDATE open_sessions SET payee_id = 'user-1'",
                "session-1 is otherwise in open_sessions"
            ),
        ]
    )
    func audited(damage: String, says: String) async throws {
        let books = try await Planted.books(.postgresql)
        #expect(try books.audit().isClean)
        try books.execute(damage)
        let broken = try books.audit().findings.filter { $0.broken != nil }
        #expect(broken.map(\.broken) == ["session " + says])
        #expect(broken.first?.rule.hasSuffix("(open_sessions)") == true)
        try books.execute(try Self.repair())
        #expect(try books.audit().isClean)
    }

    /// What docs/operations.md tells an operator to do about it.
    private static func repair() throws -> String {
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/operations.md")
        let text = try String(contentsOf: page.standardized, encoding: .utf8)
        let start = try #require(text.range(of: "BEGIN;\nLOCK TABLE sessions"))
        let end = try #require(text.range(of: "COMMIT;", range: start.lowerBound..<text.endIndex))
        return String(text[start.lowerBound..<end.upperBound])
    }

    /// Any other index of theirs is written anew by each lock and each payment.
    @Test("let sessions do with the indexes that never change")
    func indexes() throws {
        let books = try StoreKind.postgresql.makeBooks()
        _ = try books.open()
        let indexes = try books.texts(
            "SELECT indexdef FROM pg_indexes WHERE tablename = 'sessions' ORDER BY indexname"
        )
        #expect(
            indexes == [
                "CREATE UNIQUE INDEX sessions_eid_key ON public.sessions USING btree (eid)",
                "CREATE UNIQUE INDEX sessions_pkey ON public.sessions USING btree (id)",
            ]
        )
    }
}

extension LedgerStore {
    fileprivate func take(_ actions: Step.Action...) async throws {
        let commands = actions.enumerated().map {
            Step(time: 1_000, action: $1).command(number: $0)
        }
        _ = try await commit(touching: Footprint(commands)) { apply(commands, to: $0) }
    }
}
