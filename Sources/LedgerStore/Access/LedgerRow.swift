internal import Ledger
internal import Postgres
internal import SQLite

/// A row of either engine, read by column position. Reading a column as a type other than the
/// stored one is an error.
package protocol LedgerRow: ~Copyable {
    borrowing func integer(_ column: Int) throws -> Int64
    borrowing func text(_ column: Int) throws -> String
    borrowing func blob(_ column: Int) throws -> [UInt8]
    borrowing func optionalInteger(_ column: Int) throws -> Int64?
    borrowing func optionalBlob(_ column: Int) throws -> [UInt8]?
    borrowing func optionalText(_ column: Int) throws -> String?
}

extension SQLite.Row: LedgerRow {}
extension Postgres.Row: LedgerRow {}

/// A value that is read from a row.
package protocol RowValue: Sendable {
    /// - Throws: `LedgerError` with `corrupt` if the row does not contain such a value.
    init(row: borrowing some LedgerRow & ~Copyable) throws
}

extension Int64: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws { self = try row.integer(0) }
}

extension String: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws { self = try row.text(0) }
}
