import Foundation
import Ledger
import LedgerTestSupport
import SQLite
import TestSupport
import Testing

@Suite("The audit")
struct AuditTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// What is planted, the rule that must notice, and the name that must be said.
    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let rule: String
        let names: String

        var testDescription: String { sql }
    }

    @Test(
        "finds planted damage and names the row",
        arguments: [
            Damage(
                sql: "UPDATE wallets SET balance = balance + 1 WHERE id = 'wallet-0'",
                rule: "every balance is the sum",
                names: "wallet-0"
            ),
            Damage(
                sql: "UPDATE wallets SET balance = balance + 1 WHERE id = 'wallet-0'",
                rule: "all accounts together hold zero",
                names: "usd"
            ),
            Damage(
                sql: "UPDATE entries SET amount = amount + 1 WHERE transfer_id = 'transfer-6' "
                    + "AND amount > 0",
                rule: "every transfer's lines sum to zero",
                names: "transfer-6"
            ),
            Damage(
                sql: "DELETE FROM entries WHERE transfer_id = 'transfer-6'",
                rule: "every transfer's lines sum to zero",
                names: "transfer-6"
            ),
            Damage(
                sql: "UPDATE transfers SET amount = 4 WHERE id = 'transfer-6'",
                rule: "every transfer's lines sum to zero",
                names: "transfer-6"
            ),
            Damage(
                sql: "UPDATE transfers SET currency = 'eur' WHERE id = 'transfer-6'",
                rule: "every transfer's lines sum to zero",
                names: "transfer-6"
            ),
            Damage(
                sql: "INSERT INTO entries (wallet_id, number, transfer_id, amount) "
                    + "VALUES ('wallet-mint', 3, 'transfer-6', 0)",
                rule: "every transfer's lines sum to zero",
                names: "transfer-6: 3 lines"
            ),
            Damage(
                sql: "UPDATE transfers SET kind = 'GIFT' WHERE id = 'opening-0'",
                rule: "every transfer is of a kind",
                names: "opening-0 is GIFT"
            ),
            Damage(
                sql: "UPDATE entries SET number = 7 WHERE wallet_id = 'wallet-1' AND number = 2",
                rule: "every wallet's entries are numbered",
                names: "wallet-1"
            ),
            Damage(
                sql: "UPDATE wallets SET balance = -1 WHERE id = 'wallet-1'",
                rule: "no user's wallet is below zero",
                names: "wallet-1"
            ),
            Damage(
                sql: "UPDATE sessions SET amount = 6 WHERE id = 'session-0'",
                rule: "every paid session has one transfer",
                names: "session-0"
            ),
            Damage(
                sql: "UPDATE sessions SET payer_id = 'user-0' WHERE id = 'session-0'",
                rule: "every paid session has one transfer",
                names: "session-0"
            ),
            Damage(
                sql: "UPDATE sessions SET status = 'CANCEL', payer_id = NULL, paid_at = NULL "
                    + "WHERE id = 'session-0'",
                rule: "every payment paid a session",
                names: "transfer-6"
            ),
            Damage(
                sql: "UPDATE sessions SET payee_id = 'user-1' WHERE id = 'session-0'",
                rule: "every payment paid a session",
                names: "transfer-6"
            ),
            Damage(
                sql: "UPDATE transfers SET user_id = 'user-0' WHERE id = 'transfer-6'",
                rule: "every payment paid a session",
                names: "transfer-6"
            ),
            Damage(
                sql: "DELETE FROM sends WHERE transfer_id = 'transfer-6'",
                rule: "every payment is what its key was answered with",
                names: "transfer-6"
            ),
            Damage(
                sql: "UPDATE sends SET new_balance = new_balance - 1 "
                    + "WHERE transfer_id = 'transfer-6'",
                rule: "every answer told the balance",
                names: "payment of session session-0, transfer transfer-6: answered balance 4"
            ),
            Damage(
                sql: "UPDATE refunds SET new_balance = new_balance + 1 "
                    + "WHERE transfer_id = 'refund-8'",
                rule: "every answer told the balance",
                names: "refund of session session-0, transfer refund-8: answered balance"
            ),
            Damage(
                sql: "DELETE FROM entries WHERE transfer_id = 'refund-8'",
                rule: "every answer told the balance",
                names: "refund-8: answered balance 13, entries none"
            ),
            Damage(
                sql: "UPDATE refunds SET total = 3 WHERE transfer_id = 'refund-8'",
                rule: "every refund's answer told",
                names: "refund of session session-0, transfer refund-8: answered total 3, refunds 2"
            ),
            Damage(
                sql: "UPDATE refunds SET amount = 3 WHERE transfer_id = 'refund-8'",
                rule: "every refund went",
                names: "refund-8"
            ),
            Damage(
                sql: "UPDATE refunds SET user_id = 'user-1' WHERE transfer_id = 'refund-8'",
                rule: "every refund went",
                names: "refund-8"
            ),
            Damage(
                sql: "DELETE FROM refunds WHERE transfer_id = 'refund-8'",
                rule: "every refund went",
                names: "refund-8"
            ),
            Damage(
                sql: "UPDATE sessions SET refunded = 6 WHERE id = 'session-0'",
                rule: "no session was refunded more",
                names: "session-0"
            ),
            Damage(
                sql: "DELETE FROM users WHERE id = 'user-0'",
                rule: "every reference leads somewhere",
                names: "user_id user-0 is missing in users"
            ),
            Damage(
                sql: "UPDATE entries SET wallet_id = 'none' WHERE transfer_id = 'transfer-6' "
                    + "AND amount > 0",
                rule: "every reference leads somewhere",
                names: "table entries, row none: wallet_id none is missing in wallets"
            ),
            Damage(
                sql: "UPDATE entries SET transfer_id = 'none' WHERE transfer_id = 'transfer-6' "
                    + "AND amount > 0",
                rule: "every reference leads somewhere",
                names: "table entries, row wallet-0: transfer_id none is missing in transfers"
            ),
            Damage(
                sql: "UPDATE transfers SET session_id = 'none' WHERE id = 'transfer-6'",
                rule: "every reference leads somewhere",
                names: "table transfers, row transfer-6: session_id none is missing in sessions"
            ),
            Damage(
                sql: "UPDATE transfers SET user_id = 'none' WHERE id = 'transfer-6'",
                rule: "every reference leads somewhere",
                names: "table transfers, row transfer-6: user_id none is missing in users"
            ),
            Damage(
                sql: "UPDATE sends SET transfer_id = 'none' WHERE transfer_id = 'transfer-6'",
                rule: "every reference leads somewhere",
                names: "table sends, row user-1: transfer_id none is missing in transfers"
            ),
            Damage(
                sql: "UPDATE sends SET user_id = 'none' WHERE transfer_id = 'transfer-6'",
                rule: "every reference leads somewhere",
                names: "table sends, row none: user_id none is missing in users"
            ),
            Damage(
                sql: "UPDATE sends SET refusal = 'LOST' WHERE session_id = 'session-1'",
                rule: "every session is in a state",
                names: "session-1 was refused as LOST"
            ),
            Damage(
                sql: "UPDATE refunds SET refusal = 'LOST' WHERE transfer_id IS NULL",
                rule: "every session is in a state",
                names: "session-0 was refused as LOST"
            ),
            Damage(
                sql: "UPDATE sessions SET status = 'PAIE' WHERE id = 'session-0'",
                rule: "every session is in a state",
                names: "session-0 is PAIE"
            ),
            Damage(
                sql: "UPDATE sessions SET paid_at = NULL WHERE id = 'session-0'",
                rule: "every session is in a state",
                names: "session-0"
            ),
        ],
        StoreKind.allCases
    )
    func finds(damage: Damage, kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        #expect(try books.audit().isClean)
        try books.damage(damage.sql)
        let audit = try books.audit()
        let finding = audit.findings.first { $0.rule.hasPrefix(damage.rule) }
        #expect(!audit.isClean)
        #expect(finding?.broken?.contains(damage.names) == true, "\(audit.findings)")
    }

    @Test(
        "finds a guard that is missing, stands elsewhere, sleeps or lets all pass",
        arguments: [
            (StoreKind.sqlite, ""),
            (.sqlite, "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT 1; END"),
            (
                .sqlite,
                """
                CREATE TRIGGER entries_stay BEFORE UPDATE ON entries WHEN old.amount = 0
                BEGIN SELECT RAISE(ABORT, 'entries are only ever inserted'); END
                """
            ),
            (
                .sqlite,
                """
                CREATE TRIGGER entries_stay BEFORE UPDATE ON probe
                BEGIN SELECT RAISE(ABORT, 'entries are only ever inserted'); END
                """
            ),
            (.postgresql, ""),
            (.postgresql, "CREATE RULE entries_stay AS ON UPDATE TO entries DO INSTEAD NOTHING"),
            (
                .postgresql,
                """
                CREATE RULE entries_stay AS ON UPDATE TO entries WHERE old.amount = 0
                DO INSTEAD SELECT CAST((SELECT 'entries are only ever inserted'::text) AS bigint)
                """
            ),
            (
                .postgresql,
                """
                CREATE RULE entries_stay AS ON UPDATE TO probe
                DO INSTEAD SELECT CAST((SELECT 'entries are only ever inserted'::text) AS bigint)
                """
            ),
            (
                .postgresql,
                """
                CREATE RULE entries_stay AS ON UPDATE TO entries
                DO INSTEAD SELECT CAST((SELECT 'entries are only ever inserted'::text) AS bigint);
                ALTER TABLE entries DISABLE RULE entries_stay
                """
            ),
        ]
    )
    func missingGuard(kind: StoreKind, instead: String) async throws {
        let books = try await Planted.books(kind)
        let removal =
            kind == .sqlite ? "DROP TRIGGER entries_stay" : "DROP RULE entries_stay ON entries"
        try books.execute("\(removal);\n\(instead)")
        let broken = try books.audit().findings.compactMap(\.broken)
        #expect(broken.count == 1)
        #expect(broken.first?.hasSuffix("entries_stay is missing") == true)
    }

    /// An index of the name does not do.
    private static let lax = """
        DROP INDEX wallets_of_users;
        CREATE INDEX wallets_of_users ON wallets (user_id, currency)
        """

    @Test(
        "finds that something may be there twice",
        arguments: [
            (StoreKind.sqlite, "DROP INDEX wallets_of_users", "wallets may hold user_id, currency"),
            (.postgresql, "DROP INDEX wallets_of_users", "wallets may hold user_id, currency"),
            (.sqlite, lax, "wallets may hold user_id, currency"),
            (.postgresql, lax, "wallets may hold user_id, currency"),
            (
                .postgresql, "ALTER TABLE transfers DROP CONSTRAINT transfers_session_id_key",
                "transfers may hold session_id twice"
            ),
            (
                .postgresql, "ALTER TABLE open_sessions DROP CONSTRAINT open_sessions_pkey",
                "open_sessions may hold payee_id, session_id twice"
            ),
            (
                .postgresql, "ALTER TABLE sends DROP CONSTRAINT sends_pkey",
                "sends may hold user_id, idempotency_key twice"
            ),
        ]
    )
    func twice(kind: StoreKind, sql: String, said: String) async throws {
        let books = try await Planted.books(kind)
        try books.execute(sql)
        let broken = try books.audit().findings.compactMap(\.broken)
        #expect(broken.count == 1 && broken.first?.contains(said) == true, "\(broken)")
    }

    @Test("both stores prove the same list, but for each one's own index")
    func sameList() async throws {
        let lists = try await [Planted.books(.sqlite), Planted.books(.postgresql)].map { books in
            try books.audit().findings.dropFirst().map(\.rule)
        }
        #expect(lists[0] == Array(lists[1].dropLast()))
        #expect(lists[1].last?.hasSuffix("(open_sessions)") == true)
        #expect(lists[0].count >= 10)
    }

    @Test("finds broken pages")
    func brokenPages() async throws {
        let path = try await Planted.books(in: folder)
        let page = try Connection(path: path, mode: .readWrite).query(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'",
            read: { try $0.integer(0) }
        )[0]
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(page - 1) * 4_096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
        try file.close()
        let audit = try Audit.run(path: path)
        #expect(audit.findings.count == 1)
        #expect(audit.findings[0].broken != nil)
    }

    @Test("counts what it looked at", arguments: StoreKind.allCases)
    func counts(kind: StoreKind) async throws {
        let audit = try await Planted.books(kind).audit()
        let counts = Dictionary(
            uniqueKeysWithValues: audit.findings.map { ($0.rule.prefix(16), $0.count) }
        )
        #expect(counts["every transfer's"] == 4)
        #expect(counts["every paid sessi"] == 1)
        #expect(counts["every balance is"] == 3)
        #expect(counts["every wallet's e"] == 8)
    }

    @Test("a backup is complete, private, audited, and never overwrites")
    func backup() async throws {
        let path = try await Planted.books(in: folder)
        let store = try SQLiteStore(path: path)
        let copy = folder.file("copy.db")
        #expect(try SQLiteStore.backup(from: path, to: copy).isClean)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let key = SendKey(user: Cast.users[1], key: Cast.keys[0])
        let restored = try await SQLiteStore(path: copy).send(key)
        #expect(restored != nil)
        #expect(try await store.send(key) == restored)
        let error = #expect(throws: LedgerError.self) {
            try SQLiteStore.backup(from: path, to: copy)
        }
        #expect(error?.message == "There is a file of that name already.")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains { $0.contains("partial") })
    }

    @Test("A backup removes what killed ones left in its folder, unless another is being written")
    func leftBackups() async throws {
        let path = try await Planted.books(in: folder)
        let place = try TemporaryFolder()
        let left = ["a.db.7.gotchu-partial", "a.db.7.gotchu-partial-journal"]
        for name in left {
            try "".write(toFile: place.file(name), atomically: true, encoding: .utf8)
        }
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
        }
        let other = open(place.path, O_RDONLY | O_DIRECTORY)
        #expect(flock(other, LOCK_SH) == 0)
        #expect(try SQLiteStore.backup(from: path, to: place.file("b.db")).isClean)
        #expect(try names() == left + ["b.db"])
        close(other)
        #expect(try SQLiteStore.backup(from: path, to: place.file("c.db")).isClean)
        #expect(try names() == ["b.db", "c.db"])
    }

    @Test("damaged books are not backed up")
    func damagedBackup() async throws {
        let path = try await Planted.books(in: folder)
        try Planted.damage(path, "UPDATE wallets SET balance = 0 WHERE id = 'wallet-0'")
        let copy = folder.file("copy.db")
        #expect(try !SQLiteStore.backup(from: path, to: copy).isClean)
        #expect(!FileManager.default.fileExists(atPath: copy))
    }
}
