import LedgerStore
import Logging
import PostgresTestSupport
import TestSupport

/// Where a test's server keeps its books. What it says must be the same.
enum BooksKind: String, Sendable {
    case sqlite
    case postgresql
    /// PostgreSQL with Citus, where that is installed.
    case distributed

    /// What has one engine each, for what would take too long on a cluster.
    static let single: [BooksKind] = [.sqlite, .postgresql]
    static let all = single + (CitusCluster.isInstalled ? [.distributed] : [])

    /// New books.
    ///
    /// - Parameter folder: For those that are a file.
    func makeBooks(in folder: TemporaryFolder) throws -> CheckedBooks {
        switch self {
        case .sqlite: return .sqlite(folder.path + "/books.db")
        case .postgresql:
            let cluster = try PostgresCluster.shared()
            return .postgresql(cluster.url(try cluster.makeDatabase()))
        case .distributed: return .postgresql(try Self.makeDistributed())
        }
    }

    /// The address of a new database whose tables are distributed.
    static func makeDistributed(on cluster: CitusCluster? = nil) throws -> String {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try (cluster ?? .shared()).makeDatabase { url in
            _ = try PostgreSQLStore.migrate(url: url, logger: logger)
            _ = try PostgreSQLStore.distribute(url: url, logger: logger)
        }
    }

    /// A new server on new books.
    func server(
        opening: Int64 = 10_000,
        environment: [String: String] = [:]
    ) async throws -> ServerProcess {
        let folder = try TemporaryFolder()
        let books = try makeBooks(in: folder)
        return try await ServerProcess(
            folder: folder,
            database: books.database,
            opening: opening,
            environment: environment
        )
    }

    /// The way to a new server, which runs as long as somebody knows it.
    func wire() async throws -> Wire {
        let server = try await server()
        var wire = server.wire
        wire.owner = server
        return wire
    }
}
