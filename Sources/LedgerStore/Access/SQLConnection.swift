internal import GotchuCore
package import Ledger
internal import Postgres
internal import SQLite

/// A value bound to a parameter of a statement.
package enum SQLValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// A list, for `Dialect.isIn`.
    case list([String])

    package static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
    package static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    package static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}

/// The few differences between the two engines' statements. Both write parameters `$1`, `$2` …
package enum Dialect: Sendable {
    case sqlite, postgresql
    /// PostgreSQL with the rows distributed over several servers (Citus). The ledger's statements
    /// then concern one row each, found by its key.
    case distributed

    /// The condition that a value is in a bound list.
    package func isIn(_ parameter: String) -> String {
        switch self {
        case .sqlite: "IN (SELECT value FROM json_each(\(parameter)))"
        case .postgresql, .distributed: "= ANY (\(parameter)::text[])"
        }
    }

    /// The condition that a value is among the rows of `subquery`. SQLite finds each by its key. On
    /// PostgreSQL the ARRAY prevents a join: a plan that is good for a few rows might be cached and
    /// used for a million.
    package func isAmong(_ subquery: String) -> String {
        switch self {
        case .sqlite: "IN (\(subquery))"
        case .postgresql, .distributed: "= ANY (ARRAY(\(subquery)))"
        }
    }

    /// The end of a SELECT that locks its rows. SQLite has only one writer and needs no lock.
    package var lock: String { self == .sqlite ? "" : " FOR UPDATE" }
}

/// A connection of either engine, for statements that both accept. Confined to one thread.
package protocol SQLConnection: ~Copyable {
    var dialect: Dialect { get }

    /// Runs one statement, whose text must be constant, and reads its rows.
    borrowing func rows<Row: RowValue>(
        _ sql: String,
        _ values: [SQLValue],
        as type: Row.Type
    ) throws -> [Row]

    /// Runs one statement that returns no rows.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    borrowing func run(_ sql: String, _ values: [SQLValue]) throws -> Int
}

extension SQLConnection where Self: ~Copyable {
    package borrowing func rows<Row: RowValue>(
        _ sql: String,
        _ values: [SQLValue] = []
    ) throws -> [Row] {
        try rows(sql, values, as: Row.self)
    }

    package borrowing func first<Row: RowValue>(
        _ sql: String,
        _ values: [SQLValue] = []
    ) throws -> Row? {
        try rows(sql, values, as: Row.self).first
    }
}

extension SQLite.Connection: SQLConnection {
    package var dialect: Dialect { .sqlite }

    package borrowing func rows<Row: RowValue>(
        _ sql: String,
        _ values: [SQLValue],
        as type: Row.Type
    ) throws -> [Row] {
        try query(sql, values.map(SQLite.Value.init)) { try Row(row: $0) }
    }

    @discardableResult
    package borrowing func run(_ sql: String, _ values: [SQLValue]) throws -> Int {
        try run(sql, values.map(SQLite.Value.init))
    }
}

extension Postgres.Connection: SQLConnection {
    package var dialect: Dialect { isDistributed ? .distributed : .postgresql }

    package borrowing func rows<Row: RowValue>(
        _ sql: String,
        _ values: [SQLValue],
        as type: Row.Type
    ) throws -> [Row] {
        try query(sql, values.map(Postgres.Value.init), within: PostgreSQLSession.answerLimit) {
            try Row(row: $0)
        }
    }

    @discardableResult
    package borrowing func run(_ sql: String, _ values: [SQLValue]) throws -> Int {
        try change(sql, values.map(Postgres.Value.init))
    }
}

extension SQLite.Value {
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let integer): self = .integer(integer)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .blob(bytes)
        case .list(let texts): self = .text(jsonList(texts))
        }
    }
}

extension Postgres.Value {
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let integer): self = .integer(integer)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .bytes(bytes)
        case .list(let texts): self = .texts(texts)
        }
    }
}

/// Encodes a JSON array for `json_each`, so that one constant statement serves any number of texts.
/// Escapes characters that JSON does not allow (RFC 8259, 7).
private func jsonList(_ texts: [String]) -> String {
    var json = TextBuilder(capacity: 2 + 40 * texts.count)
    json.add(UInt8(ascii: "["))
    for text in texts {
        if json.bytes.count > 1 { json.add(UInt8(ascii: ",")) }
        json.add(json: text)
    }
    json.add(UInt8(ascii: "]"))
    return json.text
}

/// A query of a store, declared once and run by either engine.
package protocol StoreQuery: Sendable {
    associatedtype Result: Sendable

    /// A Boolean that is true if its cost grows with the data. Such queries have a reader of their
    /// own, so that others do not wait for them.
    static var isHeavy: Bool { get }

    func run<Connection: SQLConnection & ~Copyable>(
        on connection: borrowing Connection
    ) throws -> Result
}

extension StoreQuery {
    package static var isHeavy: Bool { false }
}

/// A query of one statement.
package struct Select<Row: RowValue>: StoreQuery {
    private let sql: String
    private let values: [SQLValue]

    /// - Parameter sql: Constant text.
    package init(_ sql: String, _ values: [SQLValue] = [], as type: Row.Type = Row.self) {
        self.sql = sql
        self.values = values
    }

    package func run<Connection: SQLConnection & ~Copyable>(
        on connection: borrowing Connection
    ) throws -> [Row] {
        try connection.rows(sql, values)
    }
}

/// A database that other modules than the ledger may use: the outbox, the device registry and the
/// browser sessions.
package protocol Database: Sendable {
    /// Runs a query without a transaction of its own.
    func read<Query: StoreQuery>(_ query: Query) async throws(LedgerError) -> Query.Result

    /// Runs a query in one durable transaction, on a connection that delays no payment.
    func change<Query: StoreQuery>(_ query: Query) async throws(LedgerError) -> Query.Result
}
