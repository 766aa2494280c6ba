import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl wallet deposits`: lists the deposits, including open ones.
struct WalletDepositsCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "deposits",
        abstract: "Show the newest deposits, and which are open."
    )

    @OptionGroup var options: CommonOptions

    func run(_ client: LocalClient, _ output: Output) async throws {
        let list = try await client.deposits()
        guard !output.isJSON else { return try output.json(list) }
        guard !list.paymentIntents.isEmpty else { return output.message("Nothing was added yet.") }
        var table = Table(columns: [
            Table.Column(title: "WHEN"),
            Table.Column(title: "AMOUNT", isRightAligned: true),
            Table.Column(title: "STATUS"),
            Table.Column(title: "REASON", dropPriority: 1),
            Table.Column(title: "ID", dropPriority: 2),
        ])
        table.rows = list.paymentIntents.map { deposit in
            [
                Table.Cell(deposit.createdAt.value.dateText, .dim), Table.Cell("\(deposit.amount)"),
                Table.Cell(deposit.status.word),
                Table.Cell(deposit.lastError?.message.printable ?? ""),
                Table.Cell(deposit.paymentIntentID.printable, .dim),
            ]
        }
        table.lines(on: output.data).forEach { output.line($0) }
    }
}

/// `gotchu-ctl wallet cancel`: cancels an open deposit.
struct WalletCancelCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a deposit that was not paid.",
        discussion: """
            EXAMPLES:
              gotchu-ctl wallet cancel 019a2b3c-…

            `gotchu-ctl wallet deposits` shows the ids.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The deposit's id.")
    var id: String

    func run(_ client: LocalClient, _ output: Output) async throws {
        let deposit: IntentReply
        do {
            deposit = try await client.cancelDeposit(id)
        } catch LocalClientFailure.problem(var problem) where problem.errorCode == .notFound {
            problem.fix = "gotchu-ctl wallet deposits"
            throw LocalClientFailure.problem(problem)
        }
        guard !output.isJSON else { return try output.json(deposit) }
        output.line("Cancelled: \(deposit.amount) was not added.")
    }
}

extension IntentStatus {
    /// The status in one word, for people.
    fileprivate var word: String {
        switch self {
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction: "open"
        case .processing: "processing"
        case .succeeded: "added"
        case .failed: "failed"
        case .canceled: "cancelled"
        }
    }
}
