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
        abstract: "Shows deposits, decides on those that are held, and sets users' limits.",
        discussion: """
            Examples:
              gotchu-server deposits list --held --database sqlite:shop.db
              gotchu-server deposits accept 0199... --database sqlite:shop.db
              gotchu-server deposits limit ann@home.example --database sqlite:shop.db \\
                --most 1000.00
            """,
        subcommands: [
            ListDeposits.self, AcceptHeldDeposit.self, DropHeldDeposit.self, LimitDeposits.self,
        ]
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
            instead (19.99, or with its currency if it cannot be booked: 18.50 eur) or another \
            reason why it is held, when it was ordered, the payment's id at Stripe.
            """
    )

    @OptionGroup var database: DatabaseOption

    @Flag(help: "Only those that wait for the operator.")
    var held = false

    func run() async throws {
        let store = try database.store
        try await store.forEach(DepositBody.kind) { record in
            let deposit = try Deposit(record)
            guard !held || deposit.state == .held else { return }
            let body = deposit.body
            let received = deposit.received ?? body.unbookable?.text
            let reason = deposit.state == .held ? body.error?.code : nil
            Console.output(
                [
                    deposit.id.rawValue, deposit.owner.rawValue, deposit.state.rawValue,
                    deposit.amount.decimalText, received ?? reason ?? "-",
                    deposit.createdAt.iso8601, body.intent ?? body.checkout ?? "-",
                ].joined(separator: "\t")
            )
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

            The running server refreshes it, and credits the payer with what Stripe has.
            """
    )

    @Argument(help: "The deposit's id.")
    var deposit: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let id = RecordID(trusted: deposit)
        let accepted = try await database.store.decide(AcceptDeposit(id), on: id)
        Console.output("Deposit \(accepted.id) will be credited by the running server.")
    }
}

/// `gotchu-server deposits drop`.
struct DropHeldDeposit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Ends a deposit that is held, and of which nothing was received to be booked.",
        discussion: """
            Example:
              gotchu-server deposits drop 0199... --database sqlite:shop.db

            One that was paid in the books' currency is not dropped: accept it, and refund it at \
            Stripe if it is not wanted. Money in another currency cannot be booked: refund it in \
            Stripe's dashboard, and then drop the deposit with --refunded.
            """
    )

    @Argument(help: "The deposit's id.")
    var deposit: String

    @Flag(help: "The money that was received was refunded in Stripe's dashboard.")
    var refunded = false

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let id = RecordID(trusted: deposit)
        let command = CancelHeldDeposit(id, isRefunded: refunded)
        let dropped = try await database.store.decide(command, on: id)
        Console.output("Deposit \(dropped.id) is cancelled: nothing was credited.")
    }
}

/// `gotchu-server deposits limit`.
struct LimitDeposits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Gives a user other limits than the usual ones.",
        discussion: """
            Examples:
              gotchu-server deposits limit ann@home.example --database sqlite:shop.db \\
                --most 1000.00 --balance 5000.00
              gotchu-server deposits limit ann@home.example --database sqlite:shop.db

            A limit that is not named is the usual one from now on: GOTCHU_SERVER_DEPOSIT_MAXIMUM, \
            GOTCHU_SERVER_BALANCE_MAXIMUM.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Option(help: "The largest deposit: 1000.00.")
    var most: String?

    @Option(help: "The largest balance that a deposit may lead to: 5000.00.")
    var balance: String?

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let most = try Self.cents(most, in: Money.allowedRequest)
        let balance = try Self.cents(balance, in: FundingOptions.balanceRange)
        let store = try database.store
        let user = try await store.user(user)
        _ = try await store.carryOut(
            SetTerms(user.id) {
                $0.depositMaximum = most
                $0.balanceMaximum = balance
            }
        )
        func text(_ cents: Int64?) -> String {
            cents.map { Money(minorUnits: $0).decimalText } ?? "the usual"
        }
        Console.output(
            "User \(user.id): largest deposit \(text(most)), largest balance \(text(balance))."
        )
    }

    private static func cents(_ text: String?, in range: ClosedRange<Int64>) throws -> Int64? {
        guard let text else { return nil }
        guard let amount = Money(text), range.contains(amount.minorUnits) else {
            throw ServerFailure(
                .usage,
                "An amount is written as 12.50; the largest here is "
                    + "\(Money(minorUnits: range.upperBound).decimalText)."
            )
        }
        return amount.minorUnits
    }
}

extension FundingRecord where Body == DepositBody {
    /// The amount received but not as ordered, if it can be booked.
    fileprivate var received: String? {
        body.received.map { Money(minorUnits: $0, currency: amount.currency).decimalText }
    }

    /// The failure of a decision on it that was refused: what can be done instead.
    fileprivate var refusedDecision: ServerFailure {
        guard state == .held else {
            return ServerFailure(
                .negative,
                "Deposit \(id) is \(state.rawValue): only a held one can be accepted or dropped."
            )
        }
        if let received {
            return ServerFailure(
                .negative,
                "Deposit \(id) was not dropped: \(received) was received, and can be booked.",
                fix: "gotchu-server deposits accept \(id)"
            )
        }
        if let money = body.unbookable {
            return ServerFailure(
                .negative,
                "Stripe received \(money.text) for deposit \(id), which cannot be booked.",
                fix: "Refund it in Stripe's dashboard. Then: "
                    + "gotchu-server deposits drop \(id) --refunded"
            )
        }
        return ServerFailure(
            .negative,
            "Nothing is known to be received for deposit \(id), so nothing can be accepted.",
            fix: "gotchu-server deposits drop \(id)"
        )
    }
}

extension Store {
    /// Carries out the operator's decision on a held deposit.
    ///
    /// - Throws: A failure that says what to do instead, if the decision is refused.
    fileprivate func decide<Command: LedgerCommand>(
        _ command: Command,
        on id: RecordID
    ) async throws -> Deposit where Command.Outcome == Deposit {
        switch try await commit(command) {
        case .success(let deposit): return deposit
        case .failure(let refusal):
            guard refusal.reason == .intentSettled, let record = try await self.record(id) else {
                throw ServerFailure(.negative, refusal.problem.detail)
            }
            throw try Deposit(record).refusedDecision
        }
    }

    /// Calls a closure with every record of a kind, newest first. With `user`, only with that
    /// user's records.
    func forEach(
        _ kind: String,
        of user: UserID? = nil,
        _ body: (Record) async throws -> Void
    ) async throws {
        var before: RecordID?
        repeat {
            let page = RecordPage(of: user, kind: kind, before: before, limit: 500)
            let records = try await self.records(page)
            for record in records { try await body(record) }
            before = records.count == page.limit ? records.last?.id : nil
        } while before != nil
    }

    /// Carries out an operator's command. A server may run at the same time.
    ///
    /// - Throws: A failure with a message if the command is refused.
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
