/// The compiled statements of one connection, by SQL text.
///
/// The texts are constants in the program, which bounds their number; the limit detects text that
/// is not constant.
final class StatementCache {
    private static let limit = 256

    private var entries: [String: Entry] = [:]

    func statement(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) -> Entry {
        if let entry = entries[sql] { return entry }
        precondition(entries.count < Self.limit, "SQL must be constant text with bound values")
        let entry = Entry(try Statement(sql, on: connection))
        entries[sql] = entry
        return entry
    }

    /// A reference to a statement, because a dictionary cannot contain noncopyable values.
    final class Entry {
        private let statement: Statement

        init(_ statement: consuming Statement) {
            self.statement = statement
        }

        func run(_ values: [Value], read: (borrowing Row) throws -> Void) throws {
            try statement.run(values, read: read)
        }
    }
}
