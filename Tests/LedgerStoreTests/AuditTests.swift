import Foundation
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import SQLite
import TestSupport
import Testing

@Suite("The audit", .serialized)
struct AuditTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "The audit finds a guard that is missing, on another table, disabled or incomplete",
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
        let database = try await SampleLedger.database(kind)
        let removal =
            kind == .sqlite ? "DROP TRIGGER entries_stay" : "DROP RULE entries_stay ON entries"
        try database.execute("\(removal);\n\(instead)")
        let broken = try database.audit().findings.compactMap(\.violation)
        #expect(broken.count == 1)
        #expect(broken.first?.hasSuffix("entries_stay is missing or changed") == true)
    }

    @Test(
        "The audit finds a table without the unique index that prevents duplicate rows",
        arguments: [
            ("users", "id"), ("names", "name"), ("accounts", "owner, currency"),
            ("records", "id"), ("due", "owner, record"), ("transfers", "record, step"),
            ("entries", "owner, currency, number"), ("answers", "user_id, command, key"),
            ("seals", "chain, number"),
        ],
        StoreKind.single
    )
    func twice(table: (name: String, key: String), kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        switch kind {
        case .sqlite:
            // An index of the key does not suffice, because the index is not unique.
            let sql = try database.texts(
                "SELECT sql FROM sqlite_schema WHERE name = '\(table.name)'"
            )
            let plain = try #require(sql.first)
                .replacing(" PRIMARY KEY,", with: ",")
                .replacing("PRIMARY KEY (\(table.key)),", with: "")
                .replacing(#/,\s*PRIMARY KEY \([a-z_, ]*\)/#, with: "")
                .replacing(", WITHOUT ROWID", with: "")
                .replacing("CREATE TABLE \(table.name)", with: "CREATE TABLE new_\(table.name)")
            let guards = try database.texts(
                """
                SELECT sql FROM sqlite_schema
                WHERE tbl_name = '\(table.name)' AND type = 'trigger'
                """
            )
            let script = [
                plain, "INSERT INTO new_\(table.name) SELECT * FROM \(table.name)",
                "DROP TABLE \(table.name)",
                "ALTER TABLE new_\(table.name) RENAME TO \(table.name)",
                "CREATE INDEX lax ON \(table.name) (\(table.key))",
            ]
            try database.execute((script + guards).joined(separator: ";\n"))
        case .postgresql, .distributed:
            try database.execute(
                """
                ALTER TABLE \(table.name) DROP CONSTRAINT \(table.name)_pkey;
                CREATE INDEX lax ON \(table.name) (\(table.key))
                """
            )
        }
        let broken = try database.audit().findings.compactMap(\.violation)
        #expect(broken == ["table \(table.name) has no unique index on \(table.key)"])
    }

    @Test("The audit checks the same rules on SQLite and PostgreSQL")
    func sameList() async throws {
        let lists = try await [SampleLedger.database(.sqlite), SampleLedger.database(.postgresql)]
            .map {
                database in
                try database.audit().findings.dropFirst().map(\.rule)
            }
        #expect(lists[0] == lists[1])
        #expect(lists[0].count >= 16)
    }

    @Test("The audit finds a damaged page of a SQLite file")
    func brokenPages() async throws {
        let path = try await SampleLedger.database(in: folder)
        let page = try Connection(path: path, mode: .readWrite).query(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'",
            read: { try $0.integer(0) }
        )[0]
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(page - 1) * 4_096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
        try file.close()
        let audit = try Audit.run(
            path: path,
            kinds: TestDatabase.kinds,
            records: TestDatabase.records
        )
        #expect(audit.findings.count == 1)
        #expect(audit.findings[0].violation != nil)
    }

    @Test("The audit counts the rows that it checked", arguments: StoreKind.all)
    func counts(kind: StoreKind) async throws {
        let audit = try await SampleLedger.database(kind).audit()
        let counts = Dictionary(
            audit.findings.map { ($0.rule.split(separator: " ").last ?? "", $0.count) }
        ) { first, _ in first }
        #expect(counts["(transfers)"] == 4)
        #expect(counts["(sessions)"] == 2)
        #expect(counts["(entries)"] == 8)
        #expect(counts["(seals)"] == 3)
        #expect(counts["(users)"] == 2)
        #expect(counts["(names)"] == 4)
        #expect(counts["(due)"] == 1)
        #expect(counts["(records)"] == 2)
        #expect(counts["(currencies)"] == 1)
    }

    @Test("A backup is audited, readable only by its owner, and overwrites no file")
    func backup() async throws {
        let path = try await SampleLedger.database(in: folder)
        let store = try SQLiteStore(path: path)
        let copy = folder.file("copy.db")
        #expect(try backup(path, copy).isClean)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let key = Answer.Key(user: Cast.users[1], command: Pay.name, key: Cast.keys[0])
        let restored = try await SQLiteStore(path: copy).answer(key)
        #expect(restored != nil)
        #expect(try await store.answer(key) == restored)
        let error = #expect(throws: LedgerError.self) {
            try backup(path, copy)
        }
        #expect(error?.message == "There is a file with that name already.")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains { $0.contains("partial") })
    }

    @Test("A backup removes partial files of killed backups, unless another backup is running")
    func leftBackups() async throws {
        let path = try await SampleLedger.database(in: folder)
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
        #expect(try backup(path, place.file("b.db")).isClean)
        #expect(try names() == left + ["b.db"])
        close(other)
        #expect(try backup(path, place.file("c.db")).isClean)
        #expect(try names() == ["b.db", "c.db"])
    }

    @Test("A damaged ledger is not backed up")
    func damagedBackup() async throws {
        let path = try await SampleLedger.database(in: folder)
        try SampleLedger.damage(path, "UPDATE accounts SET balance = 0 WHERE owner = 'user-0'")
        let copy = folder.file("copy.db")
        #expect(try !backup(path, copy).isClean)
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    private func backup(_ path: String, _ copy: String) throws -> Audit {
        try SQLiteStore.backup(
            from: path,
            to: copy,
            kinds: TestDatabase.kinds,
            records: TestDatabase.records
        )
    }
}
