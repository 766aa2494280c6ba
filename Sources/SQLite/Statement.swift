internal import CSQLite

/// A prepared statement; its handle is finalized when it is released.
///
/// A statement keeps its connection's handle alive (`sqlite3_close_v2`), so the order in which the
/// two are released does not matter.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    /// For each parameter in SQLite's order, the index of its value: 2 for `$3`.
    private let positions: [Int]

    /// Compiles the first statement of `sql`, to be run many times.
    init(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection,
            sql,
            -1,
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &handle,
            nil
        )
        guard code == SQLITE_OK, let handle else {
            throw SQLiteError(code, on: connection, sql: sql)
        }
        self.handle = handle
        self.connection = connection
        // To PostgreSQL `$3` is the third value; SQLite numbers names by their first occurrence.
        positions = (0..<sqlite3_bind_parameter_count(handle)).map { index in
            let name = sqlite3_bind_parameter_name(handle, index + 1).map { String(cString: $0) }
            return name.flatMap { Int($0.dropFirst()) }.map { $0 - 1 } ?? Int(index)
        }
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement with `values` for its parameters and calls `read` with each row.
    ///
    /// The statement is always reset, so that it holds no read lock afterwards.
    borrowing func run(_ values: [Value], read: (borrowing Row) throws -> Void) throws {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        try bind(values)
        while true {
            let code = sqlite3_step(handle)
            switch code {
            case SQLITE_ROW: try read(Row(handle))
            case SQLITE_DONE: return
            default: throw SQLiteError(code, on: connection, sql: sql)
            }
        }
    }

    private borrowing func bind(_ values: [Value]) throws(SQLiteError) {
        guard (positions.max() ?? -1) + 1 == values.count else {
            throw SQLiteError(
                code: .misuse,
                message: "a statement got \(values.count) values for its parameters",
                sql: sql
            )
        }
        for (index, position) in positions.enumerated() {
            let code = bind(values[position], at: Int32(index + 1))
            guard code == SQLITE_OK else { throw SQLiteError(code, on: connection, sql: sql) }
        }
    }

    private borrowing func bind(_ value: Value, at index: Int32) -> Int32 {
        switch value {
        case .null:
            sqlite3_bind_null(handle, index)
        case .integer(let integer):
            sqlite3_bind_int64(handle, index, integer)
        case .text(let text):
            // Swift passes a pointer that is never null, and the length is given: an empty text
            // does not become NULL, and a text with a NUL character is not truncated.
            sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), copied)
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                $0.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), copied)
            }
        }
    }

    private var sql: String? { sqlite3_sql(handle).map { String(cString: $0) } }
}

/// The value of the macro `SQLITE_TRANSIENT`, which Swift does not import: SQLite copies the bytes
/// before it returns.
private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
