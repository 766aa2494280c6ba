import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Tests of the backup and restore steps in docs/operations.md.
@Suite("Backup and restore on PostgreSQL")
struct RestoreTests {
    private let folder: TemporaryFolder
    private var dump: String { "\(folder.path)/monday.dump" }
    private var secret: String { "\(folder.path)/secrets.dump" }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ tool: String, _ arguments: String...) async throws {
        let program = try Program(PostgresCluster.program(tool), arguments)
        #expect(try await program.exitCode() == 0, "\(tool): \(program.text)")
    }

    @Test("A registered till still works after the database and its secret are restored")
    func restored() async throws {
        let cluster = try PostgresCluster.shared()
        let url = cluster.url(try cluster.makeDatabase())
        let server = try await ServerProcess(database: url, opening: nil)
        let added = try await ServerProcess.run("devices", "add", "till", "--database", url)
        #expect(added.code == 0, "\(added.text)")
        var credential = try #require(added.text.split(separator: "\n").last.map(String.init))
        func use(_ wire: Wire) async throws -> Int {
            let reply = try await wire.post("/auth/token", #"{"refresh_token":"\#(credential)"}"#)
            if reply.status == 200 { credential = reply.string("refresh_token") }
            return reply.status
        }
        #expect(try await use(server.wire) == 200)
        try await run(
            "pg_dump",
            "--format=custom",
            "--exclude-table-data=secrets",
            "--file=\(dump)",
            url
        )
        try await run(
            "pg_dump",
            "--format=custom",
            "--data-only",
            "--table=secrets",
            "--file=\(secret)",
            url
        )
        // These exchanges make the till's credential newer than the backup.
        for _ in 0..<3 { #expect(try await use(server.wire) == 200) }
        let old = credential
        #expect(try await server.stop() == 0)

        let again = cluster.url(try cluster.makeDatabase())
        for file in [dump, secret] {
            try await run(
                "pg_restore",
                "--exit-on-error",
                "--single-transaction",
                "--dbname=\(again)",
                file
            )
        }
        let verified = try await ServerProcess.run("verify", "--database", again)
        #expect(verified.code == 0, "\(verified.text)")
        let restored = try await ServerProcess(database: again, opening: nil)
        #expect(try await use(restored.wire) == 200)
        #expect(try await use(restored.wire) == 200)
        let reused = try await restored.wire.post(
            "/auth/token",
            #"{"refresh_token":"\#(old)"}"#
        )
        #expect(reused.status == 401)
    }
}
