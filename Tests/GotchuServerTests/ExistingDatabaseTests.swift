import Foundation
import Ledger
import LedgerStore
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

/// Tests that commands other than `serve` and `migrate` create no database and migrate no tables.
@Suite("Commands for existing databases")
struct ExistingDatabaseTests {
    private static let commands = [
        ["devices", "add", "till"], ["devices", "list"], ["devices", "renew", "x"],
        ["devices", "revoke", "x"], ["webhooks", "list"], ["webhooks", "dead"],
        ["webhooks", "resend"], ["verify"],
    ]

    /// The start of a command line that removes root's privilege to open any file.
    private static let withoutPrivilege =
        geteuid() == 0
        ? [
            "setpriv", "--bounding-set=-dac_override,-dac_read_search",
            "--inh-caps=-dac_override,-dac_read_search",
        ] : []

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(
        _ command: [String],
        _ database: String
    ) async throws -> (code: Int32, text: String) {
        let program = try Program("gotchu-server", command + ["--database", database])
        return (try await program.exitCode(), program.text)
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
    }

    @Test("A command with a mistyped path or an empty file creates no database")
    func mistyped() async throws {
        let backup = ["backup", "\(folder.path)/copy"]
        for command in Self.commands + [backup] {
            let ended = try await run(command, "sqlite:\(folder.path)/ledgr.sqlite")
            #expect(ended.code == 74, "\(command): \(ended.text)")
            #expect(ended.text.contains("There is no database at"), "\(command): \(ended.text)")
            #expect(try files == [], "\(command)")
        }
        _ = try folder.write("", to: "empty")
        for command in Self.commands {
            let ended = try await run(command, "sqlite:\(folder.path)/empty")
            #expect(ended.code == 74, "\(command): \(ended.text)")
            #expect(ended.text.contains("There are no books in this database"), "\(ended.text)")
        }
        #expect(try files == ["empty"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/empty")).isEmpty)
    }

    @Test("A database of a newer version is refused and left unchanged")
    func otherVersion() async throws {
        let path = "\(folder.path)/books.db"
        _ = try SQLiteStore(path: path)
        let newest = try version(path)
        try SQLite.Connection(path: path, mode: .readWrite)
            .execute("PRAGMA user_version = \(newest + 1)")
        let before = try bytes(path)
        for command in Self.commands {
            let ended = try await run(command, "sqlite:\(path)")
            #expect(ended.code == 65, "\(command): \(ended.text)")
            #expect(ended.text.contains("by a newer gotchu-server"), "\(command): \(ended.text)")
            #expect(try bytes(path) == before, "\(command)")
        }
    }

    /// Returns the bytes of a database file, after a checkpoint.
    private func bytes(_ path: String) throws -> Data {
        try SQLite.Connection(path: path, mode: .readWrite)
            .execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func version(_ path: String) throws -> Int64 {
        try SQLite.Connection(path: path, mode: .readWrite)
            .query("PRAGMA user_version") { try $0.integer(0) }[0]
    }

    @Test("A database that the user may not open is refused with advice, not reported as missing")
    func notPermitted() async throws {
        let path = "\(folder.path)/closed/books.db"
        let closed = "\(folder.path)/closed"
        try FileManager.default.createDirectory(
            atPath: closed,
            withIntermediateDirectories: false
        )
        _ = try SQLiteStore(path: path)
        let isRoot = geteuid() == 0
        #expect(isRoot ? chown(closed, 65_534, 65_534) == 0 : true)
        #expect(chmod(closed, isRoot ? 0o700 : 0) == 0)
        defer { chmod(closed, 0o700) }
        let program = try Program(
            "/usr/bin/env",
            Self.withoutPrivilege
                + [Program.folder.appendingPathComponent("gotchu-server").path]
                + ["webhooks", "list", "--database", "sqlite:\(path)"]
        )
        #expect(try await program.exitCode() == 74)
        #expect(program.text.contains("This user may not open the database at"), "\(program.text)")
        #expect(program.text.contains("sudo -u gotchu-server"), "\(program.text)")
    }

    @Test("A command that a locked database refuses says what to do")
    func locked() async throws {
        let path = "\(folder.path)/books.db"
        _ = try SQLiteStore(path: path)
        let other = try Connection(path: path, mode: .readWrite)
        try other.run("BEGIN IMMEDIATE")
        let ended = try await run(["devices", "add", "till"], "sqlite:\(path)")
        #expect(ended.code == 75 && ended.text.contains("run the command again"), "\(ended.text)")
    }

    @Test(
        "On PostgreSQL, commands create no table and leave a database of a newer version unchanged"
    )
    func postgresql() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let url = cluster.url(name)
        let link = try cluster.connect(name)
        for command in Self.commands {
            let ended = try await run(command, url)
            #expect(ended.code == 74, "\(command): \(ended.text)")
            #expect(ended.text.contains("There are no books in this database"), "\(ended.text)")
        }
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        #expect(try link.connection.query(tables) { try $0.integer(0) } == [0])

        #expect(try await run(["migrate"], url).code == 0)
        let newest = try version(link)
        try link.connection.execute("INSERT INTO gotchu_migrations VALUES (\(newest + 1))")
        let rows = try rowCount(link)
        for command in Self.commands {
            let ended = try await run(command, url)
            #expect(ended.code == 65, "\(command): \(ended.text)")
            #expect(ended.text.contains("by a newer gotchu-server"), "\(command): \(ended.text)")
            #expect(try version(link) == newest + 1)
            #expect(try rowCount(link) == rows, "\(command)")
        }
        try link.connection.execute("DELETE FROM gotchu_migrations WHERE version > \(newest)")
        #expect(try await run(["devices", "add", "till"], url).code == 0)
        #expect(try await run(["devices", "list"], url).text.contains("\twaiting\t"))
    }

    /// Returns the number of users, devices and endpoints.
    private func rowCount(_ link: PostgresCluster.Link) throws -> Int64 {
        let count = """
            SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM devices)
                + (SELECT count(*) FROM endpoints)
            """
        return try link.connection.query(count) { try $0.integer(0) }[0]
    }

    private func version(_ link: PostgresCluster.Link) throws -> Int64 {
        try link.connection.query("SELECT max(version) FROM gotchu_migrations") {
            try $0.integer(0)
        }[0]
    }
}
