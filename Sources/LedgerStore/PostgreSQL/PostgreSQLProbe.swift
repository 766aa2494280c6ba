internal import Ledger
internal import Postgres

/// Tests at startup that the database engine has the properties that the ledger needs. Not every
/// engine with PostgreSQL's protocol is PostgreSQL, and some are not atomic.
enum PostgreSQLProbe {
    /// The statement: rows 2 and 3 belong to the probe; each writer writes one value into both.
    private static let write = """
        INSERT INTO probe (id, written_at) VALUES (2, $1::bigint), (3, $1::bigint)
        ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at
        """

    /// Rolls back and then commits a transaction of two rows, observed from another connection.
    ///
    /// - Throws: `LedgerError` with `notDurable`.
    static func run(_ writer: borrowing Connection, _ watcher: borrowing Connection) throws {
        var generator = SystemRandomNumberGenerator()
        let undone = Int64.random(in: .min ... .max, using: &generator)
        let kept = Int64.random(in: .min ... .max, using: &generator)
        try writer.run([Query("BEGIN"), Query(write, [.integer(undone)])])
        try expect(rows(watcher).allSatisfy { $0 != undone }, "uncommitted rows can be seen")
        try expect(isLocked(watcher), "rows are not locked")
        try writer.execute("ROLLBACK")
        let after = try rows(watcher)
        try expect(after.allSatisfy { $0 != undone }, "what was undone is still there")
        try expect(Set(after).count <= 1, "half a transaction can be seen")
        try writer.run([Query("BEGIN"), Query(write, [.integer(kept)]), .commit])
        let committed = try rows(watcher)
        try expect(
            committed.count == 2 && Set(committed).count == 1,
            "half a transaction can be seen"
        )
    }

    private static func rows(_ connection: borrowing Connection) throws -> [Int64] {
        try connection.query(
            "SELECT written_at FROM probe WHERE id IN (2, 3)",
            read: { try $0.integer(0) }
        )
    }

    /// Returns true if another transaction's lock on the probe's rows is visible. At the first
    /// start the rows do not exist yet and are not locked: returns true.
    private static func isLocked(_ connection: borrowing Connection) throws -> Bool {
        guard try !rows(connection).isEmpty else { return true }
        do {
            try connection.run([
                Query("SELECT id FROM probe WHERE id IN (2, 3) ORDER BY id FOR UPDATE NOWAIT")
            ])
            return false
        } catch let error as PostgresError where error.state == .lockNotAvailable {
            return true
        }
    }

    private static func expect(_ isTrue: Bool, _ otherwise: String) throws {
        guard !isTrue else { return }
        throw LedgerError(
            .notDurable,
            "The database does not keep transactions whole.",
            underlying: PostgresError(.refused, message: otherwise),
            fix: "Use PostgreSQL, or an engine with its guarantees."
        )
    }
}
