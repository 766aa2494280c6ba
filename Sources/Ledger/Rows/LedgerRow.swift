internal import Postgres
internal import SQLite

/// A row of either store, read by the position of its columns. A column read as a type that is not
/// stored there is an error.
protocol LedgerRow: ~Copyable {
    borrowing func integer(_ column: Int) throws -> Int64
    borrowing func text(_ column: Int) throws -> String
    borrowing func blob(_ column: Int) throws -> [UInt8]
    borrowing func optionalInteger(_ column: Int) throws -> Int64?
    borrowing func optionalBlob(_ column: Int) throws -> [UInt8]?
    borrowing func optionalText(_ column: Int) throws -> String?
}

extension SQLite.Row: LedgerRow {}
extension Postgres.Row: LedgerRow {}
