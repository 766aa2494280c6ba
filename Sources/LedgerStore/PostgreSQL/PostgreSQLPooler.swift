internal import Ledger
internal import Postgres

/// Detects a pooler that assigns server connections by transaction, as PgBouncer does in its
/// `transaction` and `statement` modes: prepared statements, settings and LISTENs of one connection
/// would leak into another's.
enum PostgreSQLPooler {
    private static let refusal = LedgerError(
        .cannotOpen,
        "The address is that of a pooler that assigns connections by transaction.",
        fix: "Use the database's own address, or a pool in session mode."
    )

    /// Checks that each of two connections keeps its own server process.
    ///
    /// - Throws: `LedgerError` with `cannotOpen` otherwise.
    static func requireNone(
        _ first: borrowing Connection,
        _ second: borrowing Connection
    ) throws {
        var processes: [Int64] = []
        do {
            for _ in 0..<2 {
                processes.append(try process(of: first))
                processes.append(try process(of: second))
            }
        } catch let error as PostgresError
            where error.state == .duplicatePreparedStatement
            || error.state == .invalidStatementName
        {
            throw refusal
        }
        // Other engines may have no process ids.
        guard processes.allSatisfy({ $0 > 0 }) else { return }
        guard processes[0] == processes[2], processes[1] == processes[3],
            processes[0] != processes[1]
        else { throw refusal }
    }

    private static func process(of connection: borrowing Connection) throws -> Int64 {
        try connection.query("SELECT pg_backend_pid()::bigint", read: { try $0.integer(0) }).first
            ?? 0
    }
}
