internal import CSQLite

/// The current row of a statement, valid only inside the closure that receives it.
///
/// Reading a column as a type other than the stored one is an error. The schema is STRICT, so a
/// mismatch is our bug or a damaged file.
package struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) {
        self.statement = statement
    }

    /// The integer in the column.
    package func integer(_ column: Int) throws(SQLiteError) -> Int64 {
        try expect(SQLITE_INTEGER, at: column)
        return sqlite3_column_int64(statement, Int32(column))
    }

    /// The text in the column.
    package func text(_ column: Int) throws(SQLiteError) -> String {
        try expect(SQLITE_TEXT, at: column)
        return readText(column)
    }

    /// The bytes in the column.
    package func blob(_ column: Int) throws(SQLiteError) -> [UInt8] {
        try expect(SQLITE_BLOB, at: column)
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        guard count > 0, let bytes = sqlite3_column_blob(statement, Int32(column)) else {
            return []
        }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The integer in the column, or `nil` for NULL.
    package func optionalInteger(_ column: Int) throws(SQLiteError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    /// The text in the column, or `nil` for NULL.
    package func optionalText(_ column: Int) throws(SQLiteError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// The bytes in the column, or `nil` for NULL.
    package func optionalBlob(_ column: Int) throws(SQLiteError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    private func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }

    private func readText(_ column: Int) -> String {
        guard let text = sqlite3_column_text(statement, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    private func expect(_ type: Int32, at column: Int) throws(SQLiteError) {
        guard column < sqlite3_column_count(statement) else {
            throw SQLiteError(code: .misuse, message: "the row has no column \(column)")
        }
        guard sqlite3_column_type(statement, Int32(column)) == type else {
            throw SQLiteError(
                code: .mismatch,
                message: "column \(column) does not hold the expected type",
                sql: sqlite3_sql(statement).map { String(cString: $0) }
            )
        }
    }
}
