internal import CPostgres

/// The result of one statement. Owns the handle and frees it.
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

    /// The command tag: `COMMIT`, or `ROLLBACK` for the COMMIT of a failed transaction.
    var command: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    /// The number of rows changed by an INSERT, UPDATE or DELETE.
    var changedRows: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    borrowing func forEachRow(_ read: (borrowing Row) throws -> Void) throws {
        for row in 0..<PQntuples(handle) { try read(Row(handle, row: row)) }
    }

    /// The server's SQLSTATE and primary message, without the detail, which may quote values.
    var serverError: (state: SQLState?, message: String) {
        let primary = field("M") ?? PQresultErrorMessage(handle).map { String(cString: $0) }
        return (field("C").map { SQLState(rawValue: $0) }, onOneLine(primary ?? ""))
    }

    /// A Boolean that is true if the server ended the session (`FATAL`) or all sessions (`PANIC`)
    /// with this error, instead of refusing the statement and rolling back.
    var isFatal: Bool {
        let severity = field("V") ?? field("S")
        return severity == "FATAL" || severity == "PANIC"
    }

    private func field(_ name: Unicode.Scalar) -> String? {
        PQresultErrorField(handle, Int32(name.value)).map { String(cString: $0) }
    }
}

/// Joins the lines of a libpq message into one.
func onOneLine(_ text: String) -> String {
    text.split { $0 == "\n" || $0 == "\t" }.joined(separator: " ")
}
