import Foundation
import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import Synchronization
import TestSupport
import Testing

/// The table of records that are due.
@Suite("Due records")
struct DueTests {
    private static let rows = """
        SELECT owner || ' ' || record || ' ' || kind || ' ' || due_at FROM due
        """

    @Test(
        "The due table lists the records that time will change, each with the time of the change",
        arguments: StoreKind.all
    )
    func due(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        try await store.commit(.open(user: 0), .open(user: 1))
        try await store.commit(
            .create(session: 0, payee: 0, amount: 5, seconds: 300, proposesTaken: false)
        )
        #expect(try database.texts(Self.rows) == ["user-0 session-0 session 301000"])
        try await store.commit(.lock(session: 0, user: 1))
        #expect(try database.texts(Self.rows) == ["user-0 session-0 session 61000"])
        try await store.commit(.unlock(session: 0, user: 1))
        #expect(try database.texts(Self.rows) == ["user-0 session-0 session 301000"])
        try await store.commit(.lock(session: 0, user: 1))
        try await store.commit(.send(session: 0, user: 1, key: 0, expected: nil))
        #expect(try database.texts(Self.rows) == [])
        try await store.commit(.refund(session: 0, user: 0, key: 0, amount: 2))
        #expect(try database.texts(Self.rows) == [])
        #expect(try database.audit().isClean)
    }

    @Test(
        "The command that expires a record removes its due row even if the record has ended",
        arguments: StoreKind.all
    )
    func over(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.execute("INSERT INTO due VALUES ('user-0', 'session-0', 'session', 1, NULL)")
        let store = try database.open()
        let time = Timestamp(milliseconds: 2)
        let due = try await store.due(at: time, excluding: [], skipping: 0, limit: 2)
        #expect(due.map(\.id.rawValue) == ["session-0"])
        try await store.commit(.expire(session: 0))
        #expect(try await store.due(at: time, excluding: [], skipping: 0, limit: 2) == [])
        #expect(try database.audit().isClean)
    }

    @Test(
        "Other due records of a payee do not count as live sessions",
        arguments: StoreKind.single
    )
    func live(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.execute(
            """
            INSERT INTO due (owner, record, kind, due_at)
            VALUES ('user-0', 'gift-0', 'gift', 1), ('user-0', 'gift-1', 'x', 1)
            """
        )
        let store = try database.open()
        func create() async throws -> Result<CreatedSession, Refusal> {
            try await store.commit(
                CreateSession(
                    payee: Cast.users[0],
                    amount: Money(minorUnits: 5),
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(300),
                    liveLimit: 2
                )
            )
        }
        _ = try await create().get()
        #expect(try await create() == .failure(Refusal(.tooManyLiveSessions)))
    }

    @Test(
        "A session expires although hundreds of earlier due rows have no record",
        arguments: StoreKind.single
    )
    func behindOthers(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.execute(
            """
            WITH RECURSIVE
                numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
            INSERT INTO due SELECT 'user-0', 'lost-' || n, 'session', n, NULL FROM numbers
            """
        )
        try await withLedger(on: try database.open()) { ledger in
            _ = try await eventually("the session has expired") {
                try await ledger.record(RecordID(Cast.sessions[1]))
                    .flatMap { $0.state == SessionStatus.expired.rawValue ? $0 : nil }
            }
        }
    }

    @Test("A record whose change is refused is tried again after five seconds")
    func refused() async throws {
        let database = try await SampleLedger.database(.sqlite)
        try database.execute("INSERT INTO due VALUES ('user-0', 'session-0', 'gift', 1, NULL)")
        let tries = Tries()
        let gift = RecordKind("gift") { _ in
            tries.times.withLock { $0.append(.now) }
            return RefusedCommand()
        }
        try await withLedger(on: try database.open(), kinds: [gift]) { _ in
            let times = try await eventually("the change is refused twice") {
                tries.times.withLock { $0.count < 2 ? nil : $0 }
            }
            // The pause of five seconds begins with the sweep, just before the sweep's first try.
            #expect(times[0].duration(to: times[1]) >= .milliseconds(4_900))
        }
    }

    private final class Tries: Sendable {
        let times = Mutex<[ContinuousClock.Instant]>([])
    }

    private struct RefusedCommand: LedgerCommand {
        static let name = "refused"

        func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {}

        func decide(on books: inout Books, at time: Timestamp) throws(Refusal) {
            throw Refusal(.sessionExpired)
        }
    }

    private static let absent = "session-1 is not in the due table with its own values"

    @Test(
        "The audit checks the due records, and the documented script repairs them",
        arguments: [
            ("DELETE FROM due", absent),
            (
                "INSERT INTO due VALUES ('user-0', 'session-0', 'session', 1, NULL)",
                "session-0 is in the due table with other values"
            ),
            ("UPDATE due SET due_at = due_at + 1", absent),
            ("UPDATE due SET owner = 'user-1'", absent),
            ("UPDATE due SET kind = 'gift'", absent),
        ],
        StoreKind.single
    )
    func audited(damage: (sql: String, says: String), kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        #expect(try database.audit().isClean)
        try database.execute(damage.sql)
        let broken = try database.audit().findings.filter { $0.violation != nil }
        #expect(broken.map(\.violation) == ["record " + damage.says])
        #expect(broken.first?.rule.hasSuffix("(due)") == true)
        guard kind == .postgresql else { return }
        try database.execute(try Self.repair())
        #expect(try database.audit().isClean)
    }

    /// The repair script in docs/operations.md.
    private static func repair() throws -> String {
        let page = URL(filePath: #filePath).appending(path: "../../../docs/operations.md")
        let text = try String(contentsOf: page.standardized, encoding: .utf8)
        let start = try #require(text.range(of: "BEGIN;\nLOCK TABLE records"))
        let end = try #require(text.range(of: "COMMIT;", range: start.lowerBound..<text.endIndex))
        return String(text[start.lowerBound..<end.upperBound])
    }

    /// Each lock and payment would rewrite an index of the records' states. Each sale would add to
    /// an index that contains sessions.
    @Test("No index of records contains their state, and only the index of ids contains sessions")
    func indexes() throws {
        let database = try StoreKind.postgresql.makeDatabase()
        _ = try database.open()
        let indexes = try database.texts(
            "SELECT indexdef FROM pg_indexes WHERE tablename = 'records' ORDER BY indexname"
        )
        let rest = "WHERE (kind <> 'session'::text)"
        #expect(
            indexes == [
                "CREATE INDEX records_by_kind ON public.records USING btree (kind, id) \(rest)",
                "CREATE INDEX records_by_owner ON public.records "
                    + "USING btree (owner, kind, id) \(rest)",
                "CREATE UNIQUE INDEX records_pkey ON public.records USING btree (id)",
            ]
        )
    }
}
