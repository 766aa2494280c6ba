internal import ArgumentParser
internal import Ledger
internal import ServiceProcess

/// `gotchu-server verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Proves that the books balance, even while the server runs.",
        discussion: """
            Example:
              gotchu-server verify --database sqlite:shop.db

            Prints each rule with the number of rows that were looked at, and for a broken one the \
            first row that breaks it, then the heads: the seals that all others lead to, one for \
            books that a single server writes. Write them down elsewhere: somebody who changes an \
            older transfer and forges the seals anew cannot make them lead to these.
              gotchu-server verify --database sqlite:shop.db \\
                --seal 01a208b5fc10054f558d:4711:9f86d081…

            Exits with 0 if the books are right and 1 if not.
            """
    )

    @OptionGroup var database: DatabaseOption

    @Option(
        help: .value(
            "chain:number:hash",
            "A seal that the books must hold. May be given several times."
        )
    )
    var seal: [String] = []

    func run() async throws {
        let pins = try seal.map(Self.pin)
        try Audit.report(or: "The books are not right.") { try database.audit(pins: pins) }
    }

    private static func pin(_ text: String) throws -> SealPin {
        if let pin = SealPin(text) { return pin }
        throw ServerFailure(.usage, "A seal is written as verify prints it: CHAIN:NUMBER:HASH.")
    }
}

extension Audit {
    /// The note about the data that no seal covers.
    private static let unsealed = """
        Seals do not cover users, names, devices, webhook endpoints, remembered refusals, the keys \
        of answers, and sessions (their texts, their times, and those that nobody paid). Other \
        rules check most of these for agreement; none sees a change that keeps them consistent.
        """

    /// Runs an audit, and prints one line for each rule to standard output.
    ///
    /// - Throws: `ServerFailure` with the message `failure` and the remedy if the database breaks a
    ///   rule.
    static func report(or failure: String, _ run: () throws -> Audit) throws {
        let audit: Audit
        do {
            audit = try run()
        } catch let error as LedgerError where error.code == .corrupt {
            // The usual advice for this error is to run `verify`. Here the advice must differ.
            throw LedgerError(
                error.code,
                error.message,
                underlying: error.underlying,
                fix: Remedy.restore.advice
            )
        }
        audit.report()
        guard audit.isClean else {
            let advice = Remedy.allCases.filter(audit.remedies.contains).map(\.advice)
            throw ServerFailure(.negative, failure, fix: advice.joined(separator: "\n"))
        }
    }

    private func report() {
        for finding in findings {
            let verdict = finding.violation == nil ? "ok" : "BROKEN"
            Console.output("\(verdict)\t\(finding.count)\t\(finding.rule)")
            if let violation = finding.violation { Console.output("\t\t\(violation)") }
        }
        for head in heads { Console.output("head\t\(head)") }
        if !heads.isEmpty { Console.output(Self.unsealed) }
        if isClean { Console.output("The books are right.") }
    }
}

extension Audit.Remedy {
    fileprivate var advice: String {
        switch self {
        case .restore:
            "Stop the server, keep the books as they are, and restore the last backup that verify "
                + "finds right."
        case .recreate:
            "What is named holds no money and can be made anew: see \"What verify proves\" in "
                + "/usr/share/doc/gotchu-server/operations.md."
        case .update:
            "Verify with the newest gotchu-server that has worked on these books. If that finds "
                + "the same, restore the last backup."
        case .compareSeals:
            "Make sure that the seal was printed for these books, and not after the backup that "
                + "they were restored from. If so, somebody has changed them: stop the server, "
                + "and find out who can write to the database."
        }
    }
}
