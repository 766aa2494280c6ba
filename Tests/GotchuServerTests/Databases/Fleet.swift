import Foundation
import TestSupport
import Testing

/// One or more servers on one database. A killed server is replaced by a new server.
actor Fleet {
    private let database: String
    private let opening: Int64
    private let environment: [String: String]
    private var servers: [ServerProcess] = []

    /// - Parameter environment: The environment variables of each server, which inject faults.
    init(
        _ count: Int,
        database: String,
        opening: Int64 = 10_000,
        environment: [String: String] = [:]
    ) async throws {
        self.database = database
        self.opening = opening
        self.environment = environment
        for _ in 0..<count { servers.append(try await start()) }
    }

    private func start() async throws -> ServerProcess {
        try await ServerProcess(
            database: database,
            opening: opening,
            more: ["--contests"],
            environment: environment
        )
    }

    var wires: [Wire] { servers.map(\.wire) }

    /// Returns the client of one server. The server may have been killed meanwhile.
    func wire(_ number: Int) -> Wire { servers[number % servers.count].wire }

    /// Kills one server and starts another in its place.
    func kill(_ number: Int) async throws {
        let index = number % servers.count
        servers[index].program.signal(SIGKILL)
        try await servers[index].program.exitCode()
        servers[index] = try await start()
    }

    /// Waits until a server has exited after a disk failure, and starts another in its place.
    func replaceExited(_ index: Int) async throws {
        #expect(try await servers[index].program.exitCode() == 74)
        servers[index] = try await start()
    }

    /// The number of batches that failed to commit, according to the servers' logs.
    var failedBatches: Int {
        servers.map { $0.program.text.matches(of: /A batch was not committed/).count }
            .reduce(0, +)
    }

    /// Stops all servers.
    ///
    /// - Returns: The exit codes.
    func stop() async throws -> [Int32] {
        var codes: [Int32] = []
        for server in servers { codes.append(try await server.stop()) }
        return codes
    }
}
