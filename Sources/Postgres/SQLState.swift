/// A five-character SQLSTATE (PostgreSQL manual, appendix A): the only part of a server's error
/// that may be compared.
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    /// The class of the code: its first two characters.
    var category: Substring { rawValue.prefix(2) }

    static let uniqueViolation = SQLState(rawValue: "23505")
    static let characterNotInRepertoire = SQLState(rawValue: "22021")
    package static let readOnlyTransaction = SQLState(rawValue: "25006")
    package static let invalidStatementName = SQLState(rawValue: "26000")
    static let serializationFailure = SQLState(rawValue: "40001")
    static let statementCompletionUnknown = SQLState(rawValue: "40003")
    static let deadlockDetected = SQLState(rawValue: "40P01")
    package static let insufficientPrivilege = SQLState(rawValue: "42501")
    package static let duplicateTable = SQLState(rawValue: "42P07")
    package static let duplicatePreparedStatement = SQLState(rawValue: "42P05")
    package static let lockNotAvailable = SQLState(rawValue: "55P03")
    static let queryCanceled = SQLState(rawValue: "57014")
}
