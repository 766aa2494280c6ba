internal import Postgres
internal import SQLite

/// A table's columns, declared once for reading, for writing to SQLite row by row, and for writing
/// any number of rows to PostgreSQL as arrays (`unnest`).
struct Table<Row>: Sendable {
    struct Column: Sendable {
        let name: String
        let type: ColumnType
        let value: @Sendable (Row) -> SQLValue

        init(_ name: String, _ type: ColumnType, value: @escaping @Sendable (Row) -> SQLValue) {
            self.name = name
            self.type = type
            self.value = value
        }
    }

    let name: String
    /// The number of columns in the primary key; they come first.
    let key: Int
    let columns: [Column]
    /// The columns' names, separated by commas.
    let list: String
    /// The columns' names, qualified with the table's name.
    let qualified: String

    init(_ name: String, key: Int, _ columns: [Column]) {
        self.name = name
        self.key = key
        self.columns = columns
        list = columns.map(\.name).joined(separator: ", ")
        qualified = columns.map { "\(name).\($0.name)" }.joined(separator: ", ")
    }

    /// Creates a statement that inserts rows.
    ///
    /// - Parameters:
    ///   - changed: The columns that are updated if the row exists; if empty, an existing row is
    ///     an error.
    ///   - cleared: The columns set to NULL if the row exists.
    func insertion(
        orUpdate changed: [String] = [],
        clearing cleared: [String] = []
    ) -> TableStatement<Row> {
        let keys = columns.prefix(key).map(\.name).joined(separator: ", ")
        let update = (changed.map { "\($0) = excluded.\($0)" } + cleared.map { "\($0) = NULL" })
            .joined(separator: ", ")
        let conflict = changed.isEmpty ? "" : " ON CONFLICT (\(keys)) DO UPDATE SET \(update)"
        let insert = "INSERT INTO \(name) (\(list))"
        return TableStatement(
            columns,
            sqlite: "\(insert) VALUES (\(TableStatement.parameters(columns)))\(conflict)",
            postgresql: "\(insert) SELECT * FROM \(TableStatement.unnested(columns))\(conflict)",
            isDistributed: true
        )
    }

    /// Creates a statement that changes columns of rows found by their keys.
    func change(of names: [String]) -> TableStatement<Row> {
        let changed = columns.filter { names.contains($0.name) }
        let all = columns.prefix(key) + changed
        let numbered = all.enumerated().map { "\($1.name) = $\($0 + 1)" }
        let set = changed.map { "\($0.name) = new.\($0.name)" }.joined(separator: ", ")
        let match = columns.prefix(key).map { "\(name).\($0.name) = new.\($0.name)" }
        let list = all.map(\.name).joined(separator: ", ")
        return TableStatement(
            Array(all),
            sqlite: """
                UPDATE \(name) SET \(numbered.dropFirst(key).joined(separator: ", "))
                WHERE \(numbered.prefix(key).joined(separator: " AND "))
                """,
            postgresql: """
                UPDATE \(name) SET \(set)
                FROM \(TableStatement.unnested(all)) AS new (\(list))
                WHERE \(match.joined(separator: " AND "))
                """,
            isDistributed: true
        )
    }

    /// Creates a statement with `before`, the rows and `after`. The rows have this table's name in
    /// it.
    ///
    /// - Parameter lock: The end of the statement for PostgreSQL.
    func statement(before: String, after: String, lock: String) -> TableStatement<Row> {
        let values = columns.enumerated().map { "$\($0 + 1) AS \($1.name)" }
        return TableStatement(
            columns,
            sqlite: "\(before) (SELECT \(values.joined(separator: ", "))) AS \(name) \(after)",
            postgresql: """
                \(before) \(TableStatement.unnested(columns)) AS \(name) (\(list))
                \(after) \(lock)
                """,
            isDistributed: false
        )
    }
}

/// The column types.
enum ColumnType: String, Sendable {
    case text
    case integer = "bigint"
    case blob = "bytea"
}

/// A statement for any number of rows, in both engines' SQL.
struct TableStatement<Row>: Sendable {
    private let columns: [Table<Row>.Column]
    private let sqlite: String
    private let postgresql: String
    /// A Boolean that is true if its table's rows may be spread over several servers.
    private let isDistributed: Bool

    init(
        _ columns: [Table<Row>.Column],
        sqlite: String,
        postgresql: String,
        isDistributed: Bool
    ) {
        self.columns = columns
        self.sqlite = sqlite
        self.postgresql = postgresql
        self.isDistributed = isDistributed
    }

    fileprivate static func parameters(_ columns: some Collection<Table<Row>.Column>) -> String {
        (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
    }

    fileprivate static func unnested(_ columns: some Collection<Table<Row>.Column>) -> String {
        let arrays = columns.enumerated().map { "$\($0 + 1)::\($1.type.rawValue)[]" }
        return "unnest(\(arrays.joined(separator: ", ")))"
    }

    /// - Returns: `nil` if there are no rows.
    func on(_ rows: [Row]) -> TableWrite? {
        guard !rows.isEmpty else { return nil }
        return TableWrite(
            sqlite: sqlite,
            postgresql: postgresql,
            isDistributed: isDistributed,
            types: columns.map(\.type),
            rows: rows.map { row in columns.map { $0.value(row) } }
        )
    }
}

/// A statement and its rows.
struct TableWrite {
    let sqlite: String
    fileprivate let postgresql: String
    fileprivate let isDistributed: Bool
    fileprivate let types: [ColumnType]
    fileprivate let rows: [[SQLValue]]

    /// Runs row by row: SQLite runs inside this process, so a prepared statement per row is as fast
    /// as a set statement.
    func run(on connection: borrowing SQLite.Connection) throws {
        for row in rows { try connection.run(sqlite, row) }
    }

    /// Returns one statement with all rows. For a distributed engine, returns one statement per row
    /// (SQLite's), because a set statement would query every server and block other writers of the
    /// table.
    func queries(for dialect: Dialect) -> [Postgres.Query] {
        guard dialect == .distributed, isDistributed else { return [query] }
        return rows.map { Postgres.Query(sqlite, $0.map(Postgres.Value.init)) }
    }

    var query: Postgres.Query {
        Postgres.Query(postgresql, types.enumerated().map { column($0, $1) })
    }

    private func column(_ index: Int, _ type: ColumnType) -> Postgres.Value {
        switch type {
        case .text:
            .texts(rows.map { if case .text(let text) = $0[index] { text } else { nil } })
        case .integer:
            .integers(rows.map { if case .integer(let value) = $0[index] { value } else { nil } })
        case .blob:
            .byteStrings(rows.map { if case .blob(let bytes) = $0[index] { bytes } else { [] } })
        }
    }
}
