import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl wallet`: shows the wallet and its deposits, and fills it.
struct WalletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wallet",
        abstract: "Show the wallet's balance and its newest entries, or fill it.",
        discussion: """
            EXAMPLES:
              gotchu-ctl wallet
              gotchu-ctl wallet --json
              gotchu-ctl wallet add 20.00
              gotchu-ctl wallet deposits
            """,
        subcommands: [
            WalletShowCommand.self, WalletAddCommand.self, WalletDepositsCommand.self,
            WalletCancelCommand.self,
        ],
        defaultSubcommand: WalletShowCommand.self
    )
}

/// `gotchu-ctl wallet show`: the balance and the newest entries.
struct WalletShowCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the wallet's balance and its newest entries."
    )

    @OptionGroup var options: CommonOptions

    func run(_ client: LocalClient, _ output: Output) async throws {
        let wallet = try await client.wallet()
        guard !output.isJSON else { return try output.json(wallet) }
        output.line(output.data.paint(wallet.available.description, .bold) + " available")
        guard !wallet.recent.isEmpty else { return }
        output.line()
        var table = Table(columns: [
            Table.Column(title: "WHEN"),
            Table.Column(title: "AMOUNT", isRightAligned: true),
            Table.Column(title: "WHAT", dropPriority: 1),
            Table.Column(title: "MEMO", minimumWidth: 8, dropPriority: 2),
        ])
        table.rows = wallet.recent.map { row(of: $0, wallet.available.currency) }
        table.lines(on: output.data).forEach { output.line($0) }
    }

    private func row(of entry: WalletEntry, _ currency: Currency) -> [Table.Cell] {
        let money = Money(
            minorUnits: entry.amountCents.value,
            currency: entry.currency ?? currency
        )
        let amount = TippedAmount(money, tip: entry.tipCents?.value, isIncluded: true)
        let signed =
            switch entry.direction {
            case .debit: Table.Cell("-\(amount.total)")
            case .credit: Table.Cell("+\(amount.total)", .green)
            }
        return [
            Table.Cell(entry.createdAt.dateText, .dim), signed,
            Table.Cell(
                [what(entry.type), amount.tipText].compactMap(\.self).joined(separator: " ")
            ),
            Table.Cell(entry.memo?.shortened ?? ""),
        ]
    }

    private func what(_ type: String) -> String {
        switch type {
        case "SEND_P2P": "paid"
        case "RECEIVE_P2P": "received"
        case "SEND_REFUND": "refunded"
        case "RECEIVE_REFUND": "got back"
        case "RECEIVE_PRIZE": "won"
        case "DEV_OPENING": "opening balance"
        case "DEPOSIT": "added"
        case "WITHDRAWAL": "withdrawn"
        case "WITHDRAWAL_RETURNED": "withdrawal returned"
        case "CARD_REFUND", "DISPUTE": "taken back"
        case "CARD_REFUND_BACK", "DISPUTE_WON": "given back"
        case "DEBT_SETTLED": "debt settled"
        default: type.printable
        }
    }
}
