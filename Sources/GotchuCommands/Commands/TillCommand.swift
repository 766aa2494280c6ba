import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl till`: manages the paired till pages, which may request money from this daemon.
struct TillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "till",
        abstract: "Pair the till's page in a browser, list the paired ones, revoke one.",
        discussion: """
            EXAMPLES:
              gotchu-ctl till pair 482913 --name Front
              gotchu-ctl till pair 482913 --name Front --refunds 50.00/day
              gotchu-ctl till list
              gotchu-ctl till revoke Front
            """,
        subcommands: [Pair.self, List.self, Revoke.self]
    )

    /// `gotchu-ctl till pair`
    struct Pair: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "pair",
            abstract: "Pair the till whose page shows a code."
        )

        @OptionGroup var options: CommonOptions

        @Argument(help: "The six digits that the page shows.")
        var code: [String]

        @Option(help: .value("name", "The till's name, for the list."))
        var name: String

        @Option(
            help: .value(
                "amount/day",
                "The sum that the till may refund in a day, such as 50.00/day; none unless given."
            )
        )
        var refunds: String?

        func run(_ client: LocalClient, _ output: Output) async throws {
            let digits = code.joined().filter { $0 != " " }
            guard digits.utf8.count == 6, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
                throw CommandFailure.badData(
                    "'\(digits.printable)' is not a code of six digits.",
                    next: "gotchu-ctl till pair 482913 --name Front"
                )
            }
            let new = NewPairing(name: name, refundsPerDayCents: try limit()?.minorUnits)
            let till = try await client.pair(digits, as: new)
            guard !output.isJSON else { return try output.json(till) }
            output.line("Paired · \(till.name.printable) · \(till.rights)")
        }

        private func limit() throws -> Money? {
            guard let refunds else { return nil }
            let suffix = "/day"
            guard refunds.hasSuffix(suffix), let money = Money(refunds.dropLast(suffix.count)),
                Money.allowedRequest.contains(money.minorUnits)
            else {
                throw CommandFailure.badData(
                    "'\(refunds.printable)' is not a sum for a day.",
                    next: "gotchu-ctl till pair 482913 --name Front --refunds 50.00/day"
                )
            }
            return money
        }
    }

    /// `gotchu-ctl till list`
    struct List: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the paired tills."
        )

        @OptionGroup var options: CommonOptions

        func run(_ client: LocalClient, _ output: Output) async throws {
            let tills = try await client.pairings()
            guard !output.isJSON else { return try output.json(PairingsReply(pairings: tills)) }
            guard !tills.isEmpty else { return output.message("No till is paired.") }
            var table = Table(columns: [
                Table.Column(title: "TILL"), Table.Column(title: "SINCE", dropPriority: 1),
                Table.Column(title: "MAY"),
            ])
            table.rows = tills.map { till in
                [
                    Table.Cell(till.name.printable), Table.Cell(till.createdAt.dateText, .dim),
                    Table.Cell(till.rights),
                ]
            }
            table.lines(on: output.data).forEach { output.line($0) }
        }
    }

    /// `gotchu-ctl till revoke`
    struct Revoke: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "End a till's pairing at once."
        )

        @OptionGroup var options: CommonOptions

        @Argument(help: "The till's name, as 'till list' prints it.")
        var name: String

        func run(_ client: LocalClient, _ output: Output) async throws {
            let till = try await client.revokePairing(name)
            guard !output.isJSON else { return try output.json(till) }
            output.line("Revoked · \(till.name.printable)")
        }
    }
}

extension PairingView {
    /// The till's rights as text, such as `requests, refunds up to $50.00 a day ($12.00 today)`.
    fileprivate var rights: String {
        guard let limit = refundsPerDayCents else { return "requests, no refunds" }
        let today = Money(minorUnits: refundedTodayCents ?? 0)
        return "requests, refunds up to \(Money(minorUnits: limit)) a day (\(today) today)"
    }
}
