import Foundation
import GotchuCore
import LedgerTestSupport
import SQLite
import TestSupport
import Testing

@testable import Ledger
@testable import LedgerStore

@Suite("The SQLite store")
struct SQLiteStoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("Opening the same file a second time does not change its schema")
    func migrateTwice() throws {
        let path = folder.file("twice.db")
        _ = try SQLiteStore(path: path)
        let first = try schema(of: path)
        _ = try SQLiteStore(path: path)
        #expect(try schema(of: path) == first)
        #expect(first.count > 10)
    }

    @Test(
        "No payment is written to files that were moved or replaced",
        arguments: [("", false), ("", true), ("-wal", false), ("-wal", true)]
    )
    func moved(ending: String, isReplaced: Bool) async throws {
        let path = folder.file("books.db")
        let store = try SQLiteStore(path: path)
        try await withLedger(on: store) { ledger in
            let user = try await ledger.user("a", cents: 100)
            // All readers are opened first. A reader that opens the log later would create a new
            // log.
            for _ in 0..<8 { _ = try await store.reading() }
            let (file, away) = (path + ending, folder.file("away"))
            try FileManager.default.moveItem(atPath: file, toPath: away)
            if isReplaced { try FileManager.default.copyItem(atPath: away, toPath: file) }
            let error = await #expect(throws: LedgerError.self) {
                _ = try await ledger.user("b", cents: 100)
            }
            #expect(error?.code == .tryAgain)
            #expect(error?.description.contains("moved or replaced") == true)
            // The ledger works again once its file is back.
            if isReplaced { try FileManager.default.removeItem(atPath: file) }
            try FileManager.default.moveItem(atPath: away, toPath: file)
            #expect(try await ledger.user("a", cents: 0) == user)
            _ = try await ledger.user("b", cents: 100)
        }
        let audit = try Audit.run(
            path: path,
            kinds: TestDatabase.kinds,
            records: TestDatabase.records
        )
        #expect(audit.isClean && audit.findings.contains { $0.rule.contains("entries") })
    }

    @Test("Files of a newer version, of another program, or without a database are refused")
    func foreignFiles() throws {
        let newer = folder.file("newer.db")
        _ = try SQLiteStore(path: newer)
        try Connection(path: newer, mode: .readWrite).execute("PRAGMA user_version = 99")
        expectForeign(newer)
        let other = folder.file("other.db")
        try Connection(path: other, mode: .create).execute("CREATE TABLE notes (text TEXT)")
        expectForeign(other)
        let text = folder.file("text.db")
        try String(repeating: "not a database ", count: 100)
            .write(toFile: text, atomically: true, encoding: .utf8)
        expectForeign(text)
    }

    private func expectForeign(_ path: String) {
        let error = #expect(throws: LedgerError.self) { try SQLiteStore(path: path) }
        #expect(error?.code == .foreign)
    }

    @Test("A missing folder is an error with a fix")
    func missingFolder() {
        let error = #expect(throws: LedgerError.self) {
            try SQLiteStore(path: folder.file("missing/books.db"))
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.fix != nil)
    }

    @Test(
        "A connection that could lose commits in a power cut is refused",
        arguments: [
            "PRAGMA synchronous = NORMAL", "PRAGMA synchronous = OFF",
            "PRAGMA journal_mode = DELETE",
        ]
    )
    func durability(pragma: String) throws {
        let connection = try Connection(path: folder.file("durable.db"), mode: .create)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try SQLiteWriter.assertDurable(connection)
        try connection.execute(pragma)
        let error = #expect(throws: LedgerError.self) {
            try SQLiteWriter.assertDurable(connection)
        }
        #expect(error?.code == .notDurable)
    }

    private func schema(of path: String) throws -> [String] {
        try Connection(path: path, mode: .readOnly).query(
            "SELECT name FROM sqlite_schema ORDER BY name",
            read: { try $0.text(0) }
        )
    }
}
