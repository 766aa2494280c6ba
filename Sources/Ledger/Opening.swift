/// What a program that opens books may do to them.
package enum Opening: Sendable {
    /// Make them, and bring their tables up to date: a server does, and who is told to.
    case migrating
    /// Neither. Others may be at work on them, whose tables they must stay.
    case asTheyAre

    /// Refuses books whose tables this program does not know, and a database without any.
    ///
    /// - Parameters:
    ///   - version: What the database has; 0 if it is empty.
    ///   - newest: What this program knows.
    static func requireNewest(_ version: Int64, newest: Int64) throws(LedgerError) {
        guard version > 0 else {
            throw LedgerError(
                .cannotOpen,
                "There are no books in this database.",
                fix: "Name the one that the server was started with."
            )
        }
        guard version == newest else {
            throw LedgerError(
                .foreign,
                "The books are of version \(version), this program is for version \(newest).",
                fix: "Use the program of the server that runs on them, or update that: it brings "
                    + "the books up to date, as does gotchu-server migrate."
            )
        }
    }
}
