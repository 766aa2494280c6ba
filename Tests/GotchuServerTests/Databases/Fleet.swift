import Foundation
import TestSupport

/// Several servers on one database; any of them may be killed and is then started again.
actor Fleet {
    private let database: String
    private let opening: Int64
    private var servers: [ServerProcess] = []

    init(_ count: Int, database: String, opening: Int64 = 10_000) async throws {
        self.database = database
        self.opening = opening
        for _ in 0..<count { servers.append(try await start()) }
    }

    private func start() async throws -> ServerProcess {
        try await ServerProcess(database: database, opening: opening)
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

    /// Stops all of them.
    ///
    /// - Returns: Their exit codes.
    func stop() async throws -> [Int32] {
        var codes: [Int32] = []
        for server in servers { codes.append(try await server.stop()) }
        return codes
    }
}
