internal import ArgumentParser
internal import Funding
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server payees`.
struct Payees: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows payees and their standing at Stripe, and forgives what users owe.",
        discussion: """
            Examples:
              gotchu-server payees list --database sqlite:shop.db
              gotchu-server payees take corner@cafe.example 2000 --database sqlite:shop.db
              gotchu-server payees forgive corner@cafe.example 12.50 --database sqlite:shop.db
            """,
        subcommands: [ListPayees.self, SetTake.self, ForgivePayee.self]
    )
}

/// `gotchu-server payees list`.
struct ListPayees: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the payees.",
        discussion: """
            Example:
              gotchu-server payees list --database sqlite:shop.db

            One line for each, separated by tabs: user, state, whether withdrawals were released, \
            the account's id at Stripe, what Stripe still wants to know.
            """
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        try await ErrorReporter.reported {
            for record in try await database.store.all(PayeeBody.kind) {
                let payee = try Payee(record)
                Console.output(
                    [
                        payee.owner.rawValue, payee.state.rawValue,
                        payee.body.isReleased ? "released" : "new", payee.body.account ?? "-",
                        payee.body.currentlyDue.joined(separator: ","),
                    ].joined(separator: "\t")
                )
            }
        }
    }
}

/// `gotchu-server payees take`.
struct SetTake: AsyncParsableCommand {
    /// Half of a sale: more would be the operator's own shop.
    private static let most: Int64 = 5_000

    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract: "Sets the operator's part of a payee's further sales.",
        discussion: """
            Example, twenty percent:
              gotchu-server payees take corner@cafe.example 2000 --database sqlite:shop.db

            A session keeps the part with which it was requested.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Argument(help: "Hundredths of a percent: 0 to 5000.")
    var basisPoints: Int64

    @OptionGroup var database: DatabaseOption

    func validate() throws {
        guard (0...Self.most).contains(basisPoints) else {
            throw ValidationError("a part is 0 to \(Self.most) hundredths of a percent")
        }
    }

    func run() async throws {
        try await ErrorReporter.reported {
            let store = try database.store
            let user = try await store.user(user)
            let part = basisPoints
            _ = try await store.carryOut(SetTerms(user.id) { $0.takeBasisPoints = part })
            Console.output("User \(user.id): \(part) hundredths of a percent from now on.")
        }
    }
}

/// `gotchu-server payees forgive`.
struct ForgivePayee: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forgive",
        abstract: "Forgives a part of what a user owes, at the operator's loss.",
        discussion: """
            Example:
              gotchu-server payees forgive corner@cafe.example 12.50 --database sqlite:shop.db
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Argument(help: "The amount: 12.50.")
    var amount: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        try await ErrorReporter.reported {
            guard let amount = Money(amount), amount.minorUnits > 0 else {
                throw ServerFailure(.usage, "An amount is written as 12.50.")
            }
            let store = try database.store
            let user = try await store.user(user)
            let rest = try await store.carryOut(ForgiveDebt(user.id, amount))
            let left = Money(minorUnits: rest, currency: amount.currency)
            Console.output("Forgiven: \(amount.plain). User \(user.id) still owes \(left.plain).")
        }
    }
}
