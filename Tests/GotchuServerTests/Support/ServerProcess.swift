import Foundation
import TestSupport

/// A running gotchu-server on a loopback port. By default, it has a new database.
final class ServerProcess: Sendable {
    let folder: TemporaryFolder
    let program: Program
    let wire: Wire

    /// The path of the database file in `folder`; not used if `database` was given.
    var path: String { folder.path + "/books.db" }

    /// Starts the server and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: The folder of the database file: that of an earlier server to restart on its
    ///     database.
    ///   - database: The address of the database, if it is not a file in the folder.
    ///   - opening: The opening balance of new wallets; `nil` for a server without development
    ///     logins.
    ///   - more: Further arguments.
    init(
        folder: TemporaryFolder? = nil,
        database: String? = nil,
        opening: Int64? = 10_000,
        more: [String] = [],
        environment: [String: String] = [:]
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let program = try Program(
            "gotchu-server",
            [
                "--listen", "127.0.0.1:0",
                "--database", database ?? "sqlite:\(folder.path)/books.db",
            ] + (opening.map { ["--dev", "--dev-opening-balance", "\($0)"] } ?? []) + more,
            environment: environment
        )
        self.program = program
        let line = /listening on http:\/\/127\.0\.0\.1:([0-9]+)\n/
        let port = try await eventually("the server listens; its output: \(program.text)") {
            program.text.firstMatch(of: line)?.output.1
        }
        wire = Wire(base: "http://127.0.0.1:\(port)")
    }

    /// Sends SIGTERM and returns the exit code.
    func stop() async throws -> Int32 {
        program.signal(SIGTERM)
        return try await program.exitCode(within: .seconds(10))
    }

    /// Runs a command of the program until it exits.
    static func run(_ arguments: String...) async throws -> (code: Int32, text: String) {
        let program = try Program("gotchu-server", arguments)
        let code = try await program.exitCode()
        return (code, program.text)
    }
}
