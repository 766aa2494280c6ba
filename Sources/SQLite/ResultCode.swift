internal import CSQLite

/// The result of an SQLite function: a primary code in the low byte, detail above it
/// (sqlite.org/rescode.html).
package struct ResultCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code, without the detail.
    package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

    package static let error = ResultCode(rawValue: SQLITE_ERROR)
    static let busy = ResultCode(rawValue: SQLITE_BUSY)
    package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    package static let full = ResultCode(rawValue: SQLITE_FULL)
    package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    package static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
    static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    static let ioErrorWrite = ResultCode(rawValue: SQLITE_IOERR | (3 << 8))
    static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
}

extension ResultCode: CustomStringConvertible {
    package var description: String { "\(meaning) (\(rawValue))" }

    /// SQLite's English description of the code.
    var meaning: String { sqlite3_errstr(rawValue).map { String(cString: $0) } ?? "code" }
}
