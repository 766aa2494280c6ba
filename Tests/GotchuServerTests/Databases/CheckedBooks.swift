import Ledger
import LedgerStore
import Postgres
import SQLite

@testable import GotchuServer

/// The books that a history is held against.
enum CheckedBooks: Sendable {
    /// A file.
    case sqlite(String)
    /// A URL.
    case postgresql(String)

    /// As a server is told.
    var database: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgresql(let url): url
        }
    }

    func audit() throws -> Audit {
        switch self {
        case .sqlite(let path): try Audit.of(path: path)
        case .postgresql(let url): try Audit.of(url: url)
        }
    }

    /// So many columns of texts.
    func rows(_ columns: Int, _ sql: String) throws -> [[String]] {
        switch self {
        case .sqlite(let path):
            let connection = try SQLite.Connection(path: path, mode: .readOnly)
            return try connection.query(sql) { row in
                var texts: [String] = []
                for column in 0..<columns { texts.append(try row.text(column)) }
                return texts
            }
        case .postgresql(let url):
            let connection = try Postgres.Connection(try ConnectionSettings(url: url))
            return try connection.query(sql) { row in
                var texts: [String] = []
                for column in 0..<columns { texts.append(try row.text(column)) }
                return texts
            }
        }
    }
}

extension Audit {
    /// Looks at a file as `verify` does.
    static func of(path: String) throws -> Audit {
        try run(path: path, kinds: TransferKind.all, records: RecordRule.all)
    }

    /// Looks at a database as `verify` does.
    static func of(url: String) throws -> Audit {
        try run(url: url, kinds: TransferKind.all, records: RecordRule.all)
    }
}
