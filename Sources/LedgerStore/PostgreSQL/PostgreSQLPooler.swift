internal import Ledger
internal import Postgres

/// Recognizes a pooler that lends its connections by the transaction, as PgBouncer does in its
/// `transaction` and `statement` modes: statements that one connection of ours has prepared, what
/// it has set and what it listens to would be there for another's.
enum PostgreSQLPooler {
    private static let refusal = LedgerError(
        .cannotOpen,
        "The database's address is that of a pooler that lends connections by the transaction.",
        fix: "Name the database itself, or a pool of the pooler's that is in session mode."
    )

    /// Asks twice on each of two connections which process serves it.
    ///
    /// - Throws: `LedgerError` with `cannotOpen` if it is not one for each, and always the same.
    static func refuse(
        before first: borrowing Connection,
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
        // An engine that is no PostgreSQL may have nothing like it.
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
