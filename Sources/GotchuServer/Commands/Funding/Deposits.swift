internal import ArgumentParser
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server deposits`.
struct Deposits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows deposits, and books what was paid in another amount than ordered.",
        discussion: """
            Examples:
              gotchu-server deposits list --held --database sqlite:shop.db
              gotchu-server deposits accept 0199... --database sqlite:shop.db
            """,
        subcommands: [ListDeposits.self, AcceptHeldDeposit.self]
    )
}

/// `gotchu-server deposits list`.
struct ListDeposits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the newest deposits, newest first.",
        discussion: """
            Example:
              gotchu-server deposits list --held --database sqlite:shop.db

            One line for each, separated by tabs: id, user, state, amount, what was received \
            instead, when it was ordered, the payment's id at Stripe.
            """
    )

    @OptionGroup var database: DatabaseOption

    @Flag(help: "Only those that wait for the operator.")
    var held = false

    func run() async throws {
        try await ErrorReporter.reported {
            let store = try database.store
            for record in try await store.all(DepositBody.kind) {
                let deposit = try Deposit(record)
                guard !held || deposit.state == .held else { continue }
                let received = deposit.body.received.map {
                    Money(minorUnits: $0, currency: deposit.amount.currency).plain
                }
                Console.output(
                    [
                        deposit.id.rawValue, deposit.owner.rawValue, deposit.state.rawValue,
                        deposit.amount.plain, received ?? "-", deposit.createdAt.iso8601,
                        deposit.body.intent ?? deposit.body.checkout ?? "-",
                    ].joined(separator: "\t")
                )
            }
        }
    }
}

/// `gotchu-server deposits accept`.
struct AcceptHeldDeposit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Books what was received for a deposit that is held.",
        discussion: """
            Example:
              gotchu-server deposits accept 0199... --database sqlite:shop.db

            The running server looks at it again, and credits the payer with what Stripe has.
            """
    )

    @Argument(help: "The deposit's id.")
    var deposit: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        try await ErrorReporter.reported {
            let command = AcceptDeposit(RecordID(trusted: deposit))
            let accepted = try await database.store.carryOut(command)
            Console.output("Deposit \(accepted.id) will be credited by the running server.")
        }
    }
}

extension Store {
    /// The largest number of records that a command lists.
    private static var listLimit: Int { 10_000 }

    /// Returns the newest records of a kind, newest first.
    func all(_ kind: String) async throws -> [Record] {
        var records: [Record] = []
        var before: RecordID?
        while records.count < Self.listLimit {
            let page = RecordPage(of: nil, kind: kind, before: before, limit: 500)
            let next = try await self.records(page)
            records += next
            guard next.count == page.limit, let last = next.last else { break }
            before = last.id
        }
        return records
    }

    /// Carries out an operator's command beside a running server.
    ///
    /// - Throws: A failure with a sentence, if it is refused.
    func carryOut<Command: LedgerCommand>(
        _ command: Command
    ) async throws -> Command.Outcome {
        switch try await commit(command) {
        case .success(let outcome): return outcome
        case .failure(let refusal):
            throw ServerFailure(.negative, refusal.problem.detail)
        }
    }
}
