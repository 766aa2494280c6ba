import Foundation
import TestSupport
import Testing

/// Several servers on one database; any of them may be killed and is then started again.
actor Fleet {
    private let database: String
    private let opening: Int64
    private let environment: [String: String]
    private var servers: [ServerProcess] = []

    /// - Parameter environment: Of each server, as faults need it.
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

    /// One of them; perhaps one that has just been killed.
    func wire(_ number: Int) -> Wire { servers[number % servers.count].wire }

    /// Kills one in the middle of whatever it does, and starts another in its place.
    func kill(_ number: Int) async throws {
        let index = number % servers.count
        servers[index].program.signal(SIGKILL)
        try await servers[index].program.exitCode()
        servers[index] = try await start()
    }

    /// Waits until one has ended by itself, as one without a disk does, and starts another.
    func restartEnded(_ index: Int) async throws {
        #expect(try await servers[index].program.exitCode() == 74)
        servers[index] = try await start()
    }

    /// How many batches they say were not committed.
    var failedBatches: Int {
        servers.map { $0.program.text.matches(of: /A batch was not committed/).count }
            .reduce(0, +)
    }

    /// Stops all of them.
    ///
    /// - Returns: Their exit codes.
    func stop() async throws -> [Int32] {
        var codes: [Int32] = []
        for server in servers { codes.append(try await server.stop()) }
        return codes
    }
}
