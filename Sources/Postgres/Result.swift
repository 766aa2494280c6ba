internal import CPostgres

/// What one statement came to; its handle is cleared with it.
struct Result: ~Copyable {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        PQclear(handle)
    }

    var status: ExecStatusType { PQresultStatus(handle) }

    /// Whether the statement did what it should.
    var isGood: Bool { status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK }

    /// `COMMIT`, or `ROLLBACK` for a COMMIT of what had failed before.
    var command: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    borrowing func forEachRow(_ read: (borrowing Row) throws -> Void) throws {
        for row in 0..<PQntuples(handle) { try read(Row(handle, row: row)) }
    }

    /// The server's code and its sentence, without the detail that may quote values.
    var complaint: (state: SQLState?, message: String) {
        let state = PQresultErrorField(handle, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        let primary = PQresultErrorField(handle, Int32(UInt8(ascii: "M")))
        let message = (primary ?? PQresultErrorMessage(handle)).map { String(cString: $0) } ?? ""
        return (state.map { SQLState(rawValue: $0) }, onOneLine(message))
    }
}

/// What libpq says may have several lines and end with one.
func onOneLine(_ text: String) -> String {
    text.split { $0 == "\n" || $0 == "\t" }.joined(separator: " ")
}
