import LedgerStore
import Logging
import PostgresTestSupport
import TestSupport

/// The kinds of databases that servers in tests use. All kinds must behave the same.
enum DatabaseKind: String, Sendable {
    case sqlite
    case postgresql
    /// PostgreSQL with Citus, if Citus is installed.
    case distributed

    /// The kinds with a single database server, for tests that take too long on a cluster.
    static let single: [DatabaseKind] = [.sqlite, .postgresql]
    static let all = single + (CitusCluster.isInstalled ? [.distributed] : [])

    /// Makes a new, empty database.
    ///
    /// - Parameter folder: The folder of the file, for SQLite.
    func makeDatabase(in folder: TemporaryFolder) throws -> CheckedDatabase {
        switch self {
        case .sqlite: return .sqlite(folder.path + "/books.db")
        case .postgresql:
            let cluster = try PostgresCluster.shared()
            return .postgresql(cluster.url(try cluster.makeDatabase()))
        case .distributed: return .postgresql(try Self.makeDistributed())
        }
    }

    /// Returns the URL of a new database with distributed tables.
    static func makeDistributed(on cluster: CitusCluster? = nil) throws -> String {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try (cluster ?? .shared()).makeDatabase { url in
            _ = try PostgreSQLStore.migrate(url: url, logger: logger)
            _ = try PostgreSQLStore.distribute(url: url, logger: logger)
        }
    }

    /// Starts a server on a new database.
    func server(
        opening: Int64 = 10_000,
        environment: [String: String] = [:]
    ) async throws -> ServerProcess {
        let folder = try TemporaryFolder()
        let database = try makeDatabase(in: folder)
        return try await ServerProcess(
            folder: folder,
            database: database.address,
            opening: opening,
            environment: environment
        )
    }

    /// Starts a server on a new database and returns a client, which keeps the server running.
    func wire() async throws -> Wire {
        let server = try await server()
        var wire = server.wire
        wire.server = server
        return wire
    }
}
