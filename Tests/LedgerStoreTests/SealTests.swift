import GotchuCore
import LedgerStore
import LedgerTestSupport
import Payments
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Ledger

/// The seals of commits.
@Suite("Seals", .serialized)
struct SealTests {
    private static let rows = """
        SELECT chain || ' ' || number FROM seals ORDER BY chain, number
        """
    /// The id of a chain that sorts after all other chains.
    private static let later = "ffffffffffffffffffff"

    @Test(
        "A commit with transfers has one seal, which is chained to the previous seal",
        arguments: StoreKind.single
    )
    func order(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        #expect(try database.texts(Self.rows) == (1...3).map { "\(SampleLedger.chain) \($0)" })
        // A commit without transfers is not sealed.
        try await store.commit(.unlock(session: 1, user: 1))
        #expect(try database.texts(Self.rows).count == 3)
        let seals = try database.audit().findings.first { $0.rule.hasPrefix("every seal matches") }
        #expect(seals?.count == 3)
        let covered = try database.texts(
            "SELECT seal || ' ' || record || ' ' || step FROM transfers ORDER BY seal, record"
        )
        #expect(
            covered == [
                "1 user-0 opening", "1 user-1 opening", "2 session-0 paid", "3 session-0 refund/2",
            ]
        )
        #expect(try database.audit().isClean)
    }

    @Test(
        "A writer begins a chain, and extends it with each commit",
        arguments: StoreKind.single
    )
    func writer(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        for _ in 0..<2 {
            try await withLedger(on: try database.open()) { ledger in
                for _ in 0..<2 { _ = try await ledger.user("u-\(UserID.make())", cents: 5) }
            }
        }
        let rows = try database.texts(Self.rows)
        #expect(rows.map { $0.split(separator: " ").last } == ["1", "2", "1", "2"])
        #expect(Set(rows.map { $0.split(separator: " ").first }).count == 2)
        // The second chain begins after the last seal of the first chain.
        #expect(
            try database.texts(
                """
                SELECT 'behind' FROM seals AS first JOIN seals AS second
                    ON second.previous = first.hash AND second.chain <> first.chain
                    AND second.number = 1 AND first.number = 2
                """
            ) == ["behind"]
        )
        #expect(try database.audit().isClean)
    }

    @Test(
        "A writer whose commit failed begins a new chain after the newest seal",
        arguments: [LedgerError.Code.unknownOutcome, .tryAgain],
        StoreKind.single
    )
    func failed(code: LedgerError.Code, kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = FaultyStore(try database.open())
        try await withLedger(on: store) { ledger in
            _ = try await ledger.user("a", cents: 5)
            store.fail(with: LedgerError(code, "The test says so."))
            await #expect(throws: LedgerError.self) { _ = try await ledger.user("b", cents: 5) }
            store.fail(with: nil)
            _ = try await ledger.user("c", cents: 5)
        }
        let rows = try database.texts(Self.rows)
        #expect(rows.map { $0.split(separator: " ").last } == ["1", "1"])
        #expect(Set(rows).count == 2)
        #expect(
            try database.texts("SELECT 'x' FROM seals AS a JOIN seals AS b ON a.hash = b.previous")
                == ["x"]
        )
        #expect(try database.audit().isClean)
    }

    @Test(
        "A writer whose connection was lost begins a new chain with its next transfer",
        arguments: [false, true]
    )
    func lostConnection(isBetween: Bool) async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let database = TestDatabase(postgresql: cluster.url(name))
        try await withLedger(on: try database.open()) { ledger in
            _ = try await ledger.user("a", cents: 5)
            _ = try await ledger.user("b", cents: 5)
            try cluster.connect("postgres").connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
            )
            if isBetween {
                try await eventually("a probe succeeds") { try? await ledger.probe() }
            }
            let user = try await eventually("a command succeeds") {
                try? await ledger.user("c", cents: 5)
            }
            #expect(!user.rawValue.isEmpty)
            _ = try await ledger.user("d", cents: 5)
        }
        let rows = try database.texts(Self.rows)
        #expect(rows.map { $0.split(separator: " ").last } == ["1", "2", "1", "2"], "\(rows)")
        #expect(try database.audit().isClean)
    }

    @Test("Two servers at once write two chains, which the audit accepts")
    func twoServers() async throws {
        let database = try StoreKind.postgresql.makeDatabase()
        let stores = try (0..<2).map { _ in try database.open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    try await withLedger(on: store) { ledger in
                        for _ in 0..<20 {
                            _ = try await ledger.user("u-\(UserID.make())", cents: 1)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.texts("SELECT DISTINCT chain FROM seals").count == 2)
        #expect(try database.texts("SELECT hash::text FROM transfers").count == 40)
        let audit = try database.audit()
        #expect(audit.isClean, "\(audit.findings)")
    }

    /// A script that damages the database, and the beginning of the finding about seals.
    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let says: String

        var testDescription: String { sql }
    }

    @Test(
        "The audit finds changed, removed, added and swapped seals and transfers",
        arguments: [
            Damage(sql: "DELETE FROM seals WHERE number = 2", says: "seal 2 of"),
            Damage(sql: "DELETE FROM seals WHERE number = 1", says: "seal 1 of"),
            Damage(sql: "DELETE FROM seals WHERE number = 3", says: "a transfer has no seal"),
            Damage(sql: "DELETE FROM seals", says: "a transfer has no seal"),
            Damage(
                sql: "UPDATE seals SET hash = previous WHERE number = 2",
                says: "seal 2 of"
            ),
            Damage(sql: "UPDATE seals SET previous = hash WHERE number = 2", says: "seal 2 of"),
            Damage(sql: "UPDATE seals SET previous = hash WHERE number = 1", says: "seal 1 of"),
            Damage(sql: "UPDATE seals SET number = 4 WHERE number = 3", says: "seal 3 of"),
            Damage(
                sql: """
                    UPDATE seals SET number = 9 WHERE number = 1;
                    UPDATE seals SET number = 1 WHERE number = 2;
                    UPDATE seals SET number = 2 WHERE number = 9
                    """,
                says: "seal 1 of"
            ),
            Damage(sql: "UPDATE seals SET chain = 'a'", says: "seal 1 of chain a does not match"),
            Damage(
                sql: "UPDATE seals SET chain = 'a'; UPDATE transfers SET chain = 'a'",
                says: "seal 1 of chain a does not match"
            ),
            Damage(
                sql: """
                    INSERT INTO seals SELECT chain, 4, hash, hash FROM seals WHERE number = 3
                    """,
                says: "seal 4 of"
            ),
            Damage(sql: "UPDATE transfers SET seal = 1 WHERE step = 'paid'", says: "seal 1 of"),
            Damage(sql: "UPDATE transfers SET seal = 4 WHERE seal = 3", says: "seal 3 of"),
            Damage(
                sql: "UPDATE transfers SET chain = 'a' WHERE step = 'paid'",
                says: "seal 2 of"
            ),
            Damage(
                sql: "UPDATE transfers SET hash = (SELECT hash FROM seals WHERE number = 1) "
                    + "WHERE step = 'paid'",
                says: "seal 2 of"
            ),
            Damage(sql: "DELETE FROM transfers WHERE step = 'paid'", says: "seal 2 of"),
            Damage(sql: "DELETE FROM transfers WHERE seal = 3", says: "seal 3 of"),
            Damage(
                sql: """
                    INSERT INTO transfers (record, step, kind, at, chain, seal, hash)
                        SELECT 'x', step, kind, at, chain, seal, hash FROM transfers WHERE seal = 2
                    """,
                says: "seal 2 of"
            ),
        ],
        StoreKind.single
    )
    func damaged(damage: Damage, kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.damage(damage.sql)
        let finding = try database.audit().findings.first {
            $0.rule.hasPrefix("every seal matches")
        }
        let found = finding?.violation ?? "nothing"
        #expect(found.hasPrefix(damage.says), "\(found)")
    }

    @Test(
        "The audit finds a transfer or an entry that was changed after its seal",
        arguments: [
            "UPDATE transfers SET at = at + 1 WHERE step = 'paid'",
            "UPDATE transfers SET record = 'session-9' WHERE step = 'paid'; "
                + "UPDATE entries SET record = 'session-9' WHERE step = 'paid'",
            "UPDATE entries SET at = at + 1 WHERE step = 'paid'",
            "UPDATE entries SET number = number + 1 WHERE step = 'paid'",
            "UPDATE entries SET balance = balance + 1 WHERE step = 'paid'",
            "UPDATE entries SET earned = earned + 1 WHERE step = 'paid'",
            """
            UPDATE entries SET amount = 4 WHERE step = 'paid' AND amount > 0;
            UPDATE entries SET amount = -4 WHERE step = 'paid' AND amount < 0
            """,
            "UPDATE entries SET currency = 'eur' WHERE step = 'paid'",
            "UPDATE entries SET owner = 'user-2' WHERE step = 'paid' AND owner = 'user-0'",
        ],
        StoreKind.single
    )
    func changed(sql: String, kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.damage(sql.replacing("number = number + 1", with: "number = number + 90"))
        let finding = try database.audit().findings.first {
            $0.rule.hasSuffix("(transfers)")
        }
        let found = finding?.violation ?? "nothing"
        #expect(found.hasSuffix("does not match its stored hash"), "\(found)")
    }

    @Test(
        "A change that all other rules accept breaks the seal",
        arguments: StoreKind.single
    )
    func consistent(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.damage("UPDATE transfers SET at = at + 1 WHERE step = 'opening'")
        let forged = try Self.hash(of: "opening", "user-1", at: 1_001, in: database)
        let hex = forged.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let hash = kind == .sqlite ? "x'\(hex)'" : "'\\x\(hex)'::bytea"
        try database.damage(
            """
            UPDATE transfers SET at = at - 1 WHERE record = 'user-0';
            UPDATE transfers SET hash = \(hash) WHERE record = 'user-1'
            """
        )
        let broken = try database.audit().findings.filter { $0.violation != nil }
        let seal = "seal 1 of chain \(SampleLedger.chain)"
        let expected = "\(seal) does not match its transfers or the seal before it"
        #expect(broken.map(\.violation) == [expected])
    }

    /// Returns the hash that the second opening of the sample ledger would have at another time.
    private static func hash(
        of step: String,
        _ user: String,
        at time: Int64,
        in database: TestDatabase
    ) throws -> [UInt8] {
        let key = Transfer.Key(RecordID(trusted: user), step)
        let at = Timestamp(milliseconds: 1_000)
        func entry(_ account: Account.Key, _ number: Int64, _ amount: Int64, _ sum: Int64) -> Entry
        {
            Entry(
                account: account,
                number: number,
                transfer: key,
                kind: "OPENING",
                at: at,
                amount: amount,
                balance: sum,
                earned: 0
            )
        }
        let transfer = Transfer(
            key: key,
            kind: "OPENING",
            at: Timestamp(milliseconds: time),
            entries: [entry(Cast.account(1), 1, 10, 10), entry(Cast.mint, 2, -10, -20)]
        )
        return transfer.hash
    }

    @Test(
        "The audit finds that the first chain was removed, because the next chain refers to it",
        arguments: StoreKind.single
    )
    func lostChain(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try await database.open().commit(
            [Step(time: 2_000, action: .open(user: 2))],
            chain: Self.later
        )
        try database.damage(
            """
            DELETE FROM seals WHERE chain = '\(SampleLedger.chain)';
            DELETE FROM transfers WHERE chain = '\(SampleLedger.chain)'
            """
        )
        let finding = try database.audit().findings.first {
            $0.rule.hasPrefix("every seal matches")
        }
        #expect(finding?.violation == "a chain continues a seal that is missing")
    }
}
