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
              gotchu-server verify --database sqlite:shop.db \
            --seal 01a208b5fc10054f558d:4711:9f86d081…

            Exits with 0 if the books are right and 1 if not.
            """
    )

    @OptionGroup var database: DatabaseOption

    @Option(
        help: ArgumentHelp(
            "A seal that the books must hold. May be given several times.",
            valueName: "chain:number:hash"
        )
    )
    var seal: [String] = []

    func run() async throws {
        try await Failures.reported {
            let audit = try database.audit(pins: try seal.map(Self.pin))
            audit.report()
            guard audit.isClean else {
                throw ServerFailure(
                    .negative,
                    "The books are not right.",
                    fix: "Stop the server, keep the books as they are, and restore the last backup."
                )
            }
        }
    }

    private static func pin(_ text: String) throws -> SealPin {
        if let pin = SealPin(text) { return pin }
        throw ServerFailure(.usage, "A seal is written as verify prints it: CHAIN:NUMBER:HASH.")
    }
}

extension Audit {
    /// One line that lists all that no seal covers.
    private static let unsealed = """
        Seals do not cover users, names, devices, webhook endpoints, remembered refusals, the keys \
        of answers, and sessions (their texts, their times, and those that nobody paid). Other \
        rules check most of these for agreement; none sees a change that keeps them consistent.
        """

    /// One line for each rule on standard output.
    func report() {
        for finding in findings {
            let verdict = finding.broken == nil ? "ok" : "BROKEN"
            Console.output("\(verdict)\t\(finding.count)\t\(finding.rule)")
            if let broken = finding.broken { Console.output("\t\t\(broken)") }
        }
        for head in heads { Console.output("head\t\(head)") }
        if !heads.isEmpty { Console.output(Self.unsealed) }
        if isClean { Console.output("The books are right.") }
    }
}
