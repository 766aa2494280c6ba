internal import CPostgres

/// The result of one statement. Owns the handle and clears it.
struct Result: ~Copyable {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        PQclear(handle)
    }

    var status: ExecStatusType { PQresultStatus(handle) }

    /// A Boolean that is true if the statement succeeded.
    var isGood: Bool { status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK }

    /// `COMMIT`, or `ROLLBACK` for a COMMIT of what had failed before.
    var command: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    /// The number of rows that an INSERT, UPDATE or DELETE has changed.
    var changedRows: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    borrowing func forEachRow(_ read: (borrowing Row) throws -> Void) throws {
        for row in 0..<PQntuples(handle) { try read(Row(handle, row: row)) }
    }

    /// The server's code and its sentence, without the detail that may quote values.
    var complaint: (state: SQLState?, message: String) {
        let primary = field("M") ?? PQresultErrorMessage(handle).map { String(cString: $0) }
        return (field("C").map { SQLState(rawValue: $0) }, onOneLine(primary ?? ""))
    }

    /// A Boolean that is true if the server ended the session with this error (`FATAL`), or itself
    /// (`PANIC`), instead of refusing the statement and rolling back.
    var isBreakdown: Bool {
        let severity = field("V") ?? field("S")
        return severity == "FATAL" || severity == "PANIC"
    }

    private func field(_ name: Unicode.Scalar) -> String? {
        PQresultErrorField(handle, Int32(name.value)).map { String(cString: $0) }
    }
}

/// Joins libpq's message, which may have several lines, into one.
func onOneLine(_ text: String) -> String {
    text.split { $0 == "\n" || $0 == "\t" }.joined(separator: " ")
}
