internal import SQLite

/// The proof that the books are right, made on one unchanging view of a file that may be in use.
package struct Audit: Sendable {
    /// One thing that must be true, and whether it is.
    package struct Finding: Equatable, Sendable {
        /// What must be true.
        package let rule: String
        /// How many rows were looked at.
        package let count: Int64
        /// The first row that breaks the rule, if one does.
        package let broken: String?
    }

    package let findings: [Finding]

    package var isClean: Bool { findings.allSatisfy { $0.broken == nil } }

    /// Looks at everything.
    ///
    /// - Throws: If the file cannot be read as a ledger at all.
    package static func run(path: String) throws(LedgerError) -> Audit {
        try wrapping(.cannotOpen) {
            let connection = try Connection(path: path, mode: .readOnly)
            guard try Schema.checkedVersion(of: connection) == Schema.newestVersion else {
                throw LedgerError(
                    .foreign,
                    "The database has not been brought up to date by this gotchu-server.",
                    fix: "Start the server with it once."
                )
            }
            return try connection.snapshot { Audit(findings: try findings(in: connection)) }
        }
    }

    private static func findings(in connection: borrowing Connection) throws -> [Finding] {
        var findings = [try soundness(of: connection)]
        // Of a file with broken pages no other answer means anything.
        guard findings[0].broken == nil else { return findings }
        for check in AuditCheck.all {
            let count = try connection.query(check.count) { try $0.integer(0) }.first ?? 0
            // A sum that does not fit is itself a finding, not a failure to look.
            let broken: String?
            do {
                broken = try connection.query(check.firstBroken) { try $0.text(0) }.first
            } catch let error as SQLiteError where error.code.primary == .error {
                broken = error.message
            }
            findings.append(Finding(rule: check.rule, count: count, broken: broken))
        }
        return findings
    }

    private static func soundness(of connection: borrowing Connection) throws -> Finding {
        let complaints: [String]
        do {
            complaints = try connection.query("PRAGMA integrity_check(1)") { try $0.text(0) }
        } catch let error as SQLiteError where error.code.primary == .corrupt {
            complaints = [error.message]
        }
        return Finding(
            rule: "the file is sound (pages)",
            count: try Schema.pragma("page_count", of: connection),
            broken: complaints == ["ok"] ? nil : complaints.first ?? "no answer"
        )
    }
}
