import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl payouts`: shows the state of payouts, and sets them up.
struct PayoutsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payouts",
        abstract: "Show what was earned and paid out, and set payouts up.",
        discussion: """
            EXAMPLES:
              gotchu-ctl payouts
              gotchu-ctl payouts setup
            """,
        subcommands: [Show.self, Setup.self],
        defaultSubcommand: Show.self
    )

    /// `gotchu-ctl payouts show`
    struct Show: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the state of payouts, the earnings and the newest withdrawals."
        )

        @OptionGroup var options: CommonOptions

        func run(_ client: LocalClient, _ output: Output) async throws {
            let payouts = try await client.payouts()
            guard !output.isJSON else { return try output.json(payouts) }
            let currency = payouts.earnings.currency
            func money(_ cents: WireInteger?) -> Money {
                Money(minorUnits: cents?.value ?? 0, currency: currency)
            }
            output.line(output.data.paint(payouts.connect.sentence, .bold))
            output.line(
                "Earned \(money(payouts.earnings.allTimeCents)) · pending "
                    + "\(money(payouts.earnings.pendingCents)) · processing "
                    + "\(money(payouts.earnings.processingCents)) · paid or spent "
                    + "\(money(payouts.earnings.paidCents))"
            )
            let parts = payouts.withdrawable
            output.line(
                "\(money(parts.availableCents)) can be withdrawn now"
                    + (parts.heldCents.value > 0
                        ? " · \(money(parts.heldCents)) came in too lately" : "")
                    + (parts.owedCents.value > 0
                        ? " · \(money(parts.owedCents)) is owed, and settled first" : "")
            )
            guard !payouts.withdrawals.isEmpty else { return }
            output.line()
            var table = Table(columns: [
                Table.Column(title: "WHEN"),
                Table.Column(title: "AMOUNT", isRightAligned: true),
                Table.Column(title: "STATUS"),
                Table.Column(title: "REASON", dropPriority: 1),
                Table.Column(title: "ID", dropPriority: 2),
            ])
            table.rows = payouts.withdrawals.map { withdrawal in
                [
                    Table.Cell(withdrawal.createdAt.value.dateText, .dim),
                    Table.Cell("\(withdrawal.amount)"),
                    Table.Cell(withdrawal.status.rawValue),
                    Table.Cell(withdrawal.reasonText?.printable ?? ""),
                    Table.Cell(withdrawal.withdrawalID.printable, .dim),
                ]
            }
            table.lines(on: output.data).forEach { output.line($0) }
        }
    }

    /// `gotchu-ctl payouts setup`
    struct Setup: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "setup",
            abstract: "Print a fresh link to the page on which you say who is paid.",
            discussion: """
                The link works once, for some minutes. Run the command again for another one.
                """
        )

        @OptionGroup var options: CommonOptions

        func run(_ client: LocalClient, _ output: Output) async throws {
            let link = try await client.payoutLink()
            guard !output.isJSON else { return try output.json(link) }
            output.message(
                "Open this address until \(link.expiresAt.value.clockText); it works once:"
            )
            output.line(link.url.printable)
        }
    }
}

extension ConnectStatusReply {
    fileprivate var sentence: String {
        switch status {
        case .notSetUp: "Payouts are not set up: gotchu-ctl payouts setup"
        case .pendingVerification: "Payouts are being verified."
        case .active: "Payouts are active."
        case .restricted:
            "Payouts are restricted: more is asked for. gotchu-ctl payouts setup"
        }
    }
}
