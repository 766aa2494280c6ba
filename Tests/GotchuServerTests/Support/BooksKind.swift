import PostgresTestSupport
import TestSupport

/// Where a test's server keeps its books. What it says must be the same.
enum BooksKind: String, CaseIterable, Sendable {
    case sqlite
    case postgresql

    /// New books.
    ///
    /// - Parameter folder: For those that are a file.
    func makeBooks(in folder: TemporaryFolder) throws -> CheckedBooks {
        switch self {
        case .sqlite: return .sqlite(folder.path + "/books.db")
        case .postgresql:
            let cluster = try PostgresCluster.shared()
            return .postgresql(cluster.url(try cluster.makeDatabase()))
        }
    }

    /// A new server on new books.
    func server(opening: Int64 = 10_000) async throws -> ServerProcess {
        let folder = try TemporaryFolder()
        let books = try makeBooks(in: folder)
        return try await ServerProcess(folder: folder, database: books.database, opening: opening)
    }

    /// The way to a new server, which runs as long as somebody knows it.
    func wire() async throws -> Wire {
        let server = try await server()
        var wire = server.wire
        wire.owner = server
        return wire
    }
}
