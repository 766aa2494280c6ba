import Foundation
import Glibc
import ServiceProcess
import TestSupport
import Testing

@testable import SQLite

@Suite("SQLite")
struct ConnectionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ mode: Connection.Mode = .create) throws -> Connection {
        try Connection(path: folder.path + "/test.db", mode: mode)
    }

    @Test(
        "Values are returned as they were bound",
        arguments: [
            Value.null, .integer(.min), .integer(.max), .integer(0), .text(""), .text("ä€😀"),
            .text("a\u{0}b"), .blob([]), .blob([0, 255, 7]),
        ]
    )
    func values(value: Value) throws {
        let connection = try open()
        let read = try connection.query("SELECT ?1", [value]) { row -> Value in
            switch value {
            case .null: try row.optionalText(0).map { .text($0) } ?? .null
            case .integer: .integer(try row.integer(0))
            case .text: .text(try row.text(0))
            case .blob: .blob(try row.blob(0))
            }
        }
        #expect(read == [value])
    }

    @Test("Reading a column of another type, or a missing column, is an error")
    func mismatch() throws {
        let connection = try open()
        let error = #expect(throws: SQLiteError.self) {
            try connection.query("SELECT 'text'") { try $0.integer(0) }
        }
        #expect(error?.code == .mismatch)
        #expect(throws: SQLiteError.self) {
            try connection.query("SELECT NULL") { try $0.text(0) }
        }
        #expect(throws: SQLiteError.self) {
            try connection.query("SELECT 1") { try $0.integer(7) }
        }
    }

    @Test("A statement with too few or too many values is refused")
    func parameters() throws {
        let connection = try open()
        for values in [[], [Value.integer(1), .integer(2)]] {
            let error = #expect(throws: SQLiteError.self) {
                try connection.run("SELECT ?1", values)
            }
            #expect(error?.code == .misuse)
        }
    }

    @Test("A transaction that throws is rolled back, and the connection stays usable")
    func rollback() throws {
        struct Stop: Error {}
        let connection = try open()
        try connection.execute("CREATE TABLE t (x INTEGER UNIQUE) STRICT")
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.run("INSERT INTO t VALUES (?1)", [.integer(1)])
                throw Stop()
            }
        }
        _ = try connection.transaction { try connection.run("INSERT INTO t VALUES (2)") }
        #expect(try connection.query("SELECT x FROM t") { try $0.integer(0) } == [2])
        let error = #expect(throws: SQLiteError.self) {
            try connection.run("INSERT INTO t VALUES (2)")
        }
        #expect(error?.code == .constraintUnique)
        #expect(error?.code.primary == .constraint)
    }

    @Test("A read-only connection cannot write, and does not create a missing file")
    func modes() throws {
        #expect(throws: SQLiteError.self) { _ = try open(.readOnly) }
        #expect(throws: SQLiteError.self) { _ = try open(.readWrite) }
        try open().execute("CREATE TABLE t (x INTEGER) STRICT")
        let error = #expect(throws: SQLiteError.self) {
            try open(.readOnly).run("INSERT INTO t VALUES (1)")
        }
        #expect(error?.code.primary == .readOnly)
    }

    @Test("A snapshot does not see later commits")
    func snapshot() throws {
        let writer = try open()
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER) STRICT")
        let reader = try open(.readOnly)
        try reader.snapshot {
            let count = "SELECT count(*) FROM t"
            #expect(try reader.query(count) { try $0.integer(0) } == [0])
            try writer.run("INSERT INTO t VALUES (1)")
            #expect(try reader.query(count) { try $0.integer(0) } == [0])
        }
        #expect(try reader.query("SELECT count(*) FROM t") { try $0.integer(0) } == [1])
    }

    @Test("A restart of the WAL does not wait for a reader, and the WAL is reused after the read")
    func readLog() throws {
        let writer = try open()
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER) STRICT")
        let reader = try open(.readOnly)
        try reader.snapshot {
            _ = try reader.query("SELECT count(*) FROM t") { try $0.integer(0) }
            try writer.run("INSERT INTO t VALUES (1)")
            let start = ContinuousClock.now
            try writer.restartLog()
            #expect(ContinuousClock.now - start < .seconds(3))
        }
        let log = folder.path + "/test.db-wal"
        let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
        try writer.restartLog()
        try writer.run("INSERT INTO t VALUES (1)")
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == size)
    }

    @Test("An error shows only the beginning of a long statement")
    func longStatement() {
        let sql = "CREATE TABLE t (" + String(repeating: "x", count: 9_999)
        let text = SQLiteError(code: ResultCode(rawValue: 1), message: "no", sql: sql).description
        #expect(text.hasPrefix("SQLite: no ") && text.contains("in: CREATE TABLE t (xx"))
        #expect(text.utf8.count < 400)
    }

    @Test("An actor with its own thread runs only on that thread")
    func thread() async {
        let actor = Worker()
        let first = await actor.thread()
        for _ in 0..<100 { #expect(await actor.thread() == first) }
        #expect(await Worker().thread() != first)
    }
}

/// An actor on a `ThreadExecutor`.
private actor Worker {
    private let executor = ThreadExecutor(name: "test")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func thread() -> UInt { UInt(pthread_self()) }
}
