import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import PostgresTestSupport
import SQLite
import TestSupport

/// A small valid ledger that tests can damage.
enum SampleLedger {
    /// The chain of the ledger's three seals: over the openings, the payment and the refund.
    static let chain = "00000000000000000001"

    /// Creates two accounts, a paid session with a refund, a locked session, a refused payment and
    /// a refused refund.
    static func database(in folder: TemporaryFolder) async throws -> String {
        let path = folder.file("books.db")
        try await write(to: try SQLiteStore(path: path))
        return path
    }

    /// Creates the same ledger in any store. On PostgreSQL the database is a copy, which is faster.
    ///
    /// - Parameter tip: The tip of the paid session; `nil` if the session allows no tip. With a tip
    ///   the second refund is accepted.
    static func database(_ kind: StoreKind, tip: Int64? = nil) async throws -> TestDatabase {
        switch kind {
        case .postgresql where tip == nil:
            let cluster = try PostgresCluster.shared()
            let name = try cluster.makeDatabase(copying: try await original.value)
            return TestDatabase(postgresql: cluster.url(name))
        case .sqlite, .postgresql, .distributed:
            let database = try kind.makeDatabase()
            try await write(to: try database.open(), tip: tip)
            return database
        }
    }

    // SAFETY: created once; all callers wait for its end.
    private static let original = Task {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        try await write(to: try TestDatabase(postgresql: cluster.url(name)).open())
        return name
    }

    private static func write(to store: any LedgerStorage, tip: Int64? = nil) async throws {
        let batches: [[Step.Action]] = [
            [.open(user: 0), .open(user: 1)],
            [
                .create(
                    session: 0,
                    payee: 0,
                    amount: 5,
                    seconds: 300,
                    proposesTaken: false,
                    allowsTip: tip != nil
                ),
                .create(session: 1, payee: 0, amount: 50, seconds: 300, proposesTaken: false),
                .lock(session: 0, user: 1), .lock(session: 1, user: 1),
                .send(session: 0, user: 1, key: 0, expected: nil, tip: tip ?? 0),
                .send(session: 1, user: 1, key: 1, expected: nil),
            ],
            [
                .refund(session: 0, user: 0, key: 0, amount: 2),
                .refund(session: 0, user: 0, key: 1, amount: 4),
            ],
        ]
        var number = 0
        var tail: Seal?
        for actions in batches {
            let steps = actions.map { Step(time: 1_000, action: $0) }
            let done = try await store.commit(steps, first: number, tail: tail, chain: chain)
            number += actions.count
            tail = done.effects.seal
        }
    }

    /// Runs a script with triggers and checks switched off. No program of gotchu can do this.
    static func damage(_ path: String, _ sql: String) throws {
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute("PRAGMA ignore_check_constraints = ON")
        let triggers = try connection.query(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
            read: { (name: try $0.text(0), sql: try $0.text(1)) }
        )
        for trigger in triggers { try connection.execute("DROP TRIGGER \(trigger.name)") }
        try connection.execute(sql)
        for trigger in triggers { try connection.execute(trigger.sql) }
    }
}
