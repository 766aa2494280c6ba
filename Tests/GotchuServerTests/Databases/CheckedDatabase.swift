import Ledger
import LedgerStore
import Postgres
import SQLite

@testable import GotchuServer

/// The database that a history is checked against.
enum CheckedDatabase: Sendable {
    /// The path of an SQLite file.
    case sqlite(String)
    /// The URL of a PostgreSQL database.
    case postgresql(String)

    /// The address in the form of the server's `--database` option.
    var address: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgresql(let url): url
        }
    }

    /// The path of the SQLite file; `nil` for PostgreSQL.
    var sqlitePath: String? {
        switch self {
        case .sqlite(let path): path
        case .postgresql: nil
        }
    }

    func audit() throws -> Audit {
        switch self {
        case .sqlite(let path): try Audit.of(path: path)
        case .postgresql(let url): try Audit.of(url: url)
        }
    }

    /// Returns the first columns of a query's rows, as texts.
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
    /// Audits an SQLite file with the rules of `verify`.
    static func of(path: String) throws -> Audit {
        try run(path: path, kinds: TransferKind.all, records: RecordRule.all)
    }

    /// Audits a PostgreSQL database with the rules of `verify`.
    static func of(url: String) throws -> Audit {
        try run(url: url, kinds: TransferKind.all, records: RecordRule.all)
    }
}
