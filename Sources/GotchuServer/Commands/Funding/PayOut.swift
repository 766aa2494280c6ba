internal import ArgumentParser
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server payouts pay`.
struct PayOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pay",
        abstract: "Withdraws an amount for a payee, as the payee could.",
        discussion: """
            Example:
              gotchu-server payouts pay corner@cafe.example 120 --database sqlite:shop.db

            The hold and the smallest withdrawal are those of the server that was started last. \
            What the user owes is settled first. The running server calls Stripe.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Argument(help: "The amount: 12.50.")
    var amount: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard let amount = Money(amount), Money.allowedRequest.contains(amount.minorUnits)
        else { throw ServerFailure(.usage, "An amount is written as 12.50.") }
        let store = try database.store
        let office = try await OperatorPayouts(store)
        let least = Money(minorUnits: office.terms.payouts.minimum, currency: amount.currency)
        guard amount.minorUnits >= least.minorUnits else {
            throw ServerFailure(
                .negative,
                "Nothing was withdrawn: the smallest withdrawal is \(least.decimalText)."
            )
        }
        let user = try await store.user(user).id
        switch try await office.pay(user, { _ in amount }) {
        case .success(let made?):
            Console.output(
                "Withdrawal \(made.id) of \(made.amount.decimalText): the running server pays it."
            )
        case .success(nil): break  // An amount was given.
        case .failure(let refusal): throw ServerFailure(.negative, refusal.problem.detail)
        }
    }
}

/// `gotchu-server payouts run`.
struct RunPayouts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Withdraws for every payee the money that is old enough.",
        discussion: """
            Example:
              gotchu-server payouts run --minimum 10.00 --database sqlite:shop.db

            One line for each payee that can be paid out, separated by tabs: user, the \
            withdrawal's id and its amount, or "-" and the reason why not. The terms are those of \
            the server that was started last. A second run finds only what came since. The timer \
            gotchu-server-payouts.timer does this daily, once it is enabled.
            """
    )

    @Option(help: "Leave less than this in the wallet.")
    var minimum = "1.00"

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard let least = Money(minimum), least.minorUnits > 0 else {
            throw ServerFailure(.usage, "An amount is written as 12.50.")
        }
        let store = try database.store
        let office = try await OperatorPayouts(store)
        try await store.forEach(PayeeBody.kind) { record in
            let payee = try Payee(record)
            guard try await office.terms.paidPayee(of: payee.owner)?.state == .active else {
                return
            }
            let end: String
            if try await office.terms.needsRelease(payee.owner, office.source) {
                end = "-\tnot released yet"
            } else {
                switch try await office.pay(payee.owner, { office.all(of: $0, from: least) }) {
                case .success(let made?): end = "\(made.id)\t\(made.amount.decimalText)"
                case .success(nil): return
                case .failure(let refusal): end = "-\t\(refusal.problem.detail)"
                }
            }
            Console.output("\(payee.owner)\t\(end)")
        }
    }
}

/// Creates withdrawals that the operator orders while a server runs.
private struct OperatorPayouts {
    /// The maximum number of tries if the account changes while a withdrawal is decided.
    private static let attemptLimit = 8

    let terms: WithdrawalTerms
    let source: FundingSource
    private let store: any Store

    /// - Throws: A failure if the ledger is not bound to an account at the provider.
    init(_ store: any Store) async throws {
        guard let record = try await store.record(Provider.id) else {
            throw ServerFailure(
                .negative,
                "These books belong to no account of Stripe, so nothing can be paid out.",
                fix: "Start gotchu-server with --stripe-key-file once."
            )
        }
        let provider = try Provider(record).body
        source = .provider(isLive: provider.isLive)
        terms = WithdrawalTerms(reads: store, payouts: provider.payouts)
        self.store = store
    }

    /// Returns the available amount, up to the limit; `nil` if it is less than a minimum.
    func all(of available: Int64, from least: Money) -> Money? {
        let amount = min(available, Money.allowedRequest.upperBound)
        guard amount >= max(least.minorUnits, terms.payouts.minimum) else { return nil }
        return Money(minorUnits: amount, currency: FundingOperations.currency)
    }

    /// Withdraws for a user the amount that a closure computes from the available amount, in minor
    /// units. First settles the user's debt.
    ///
    /// - Returns: The withdrawal; `nil` if the closure returned `nil`.
    func pay(
        _ user: UserID,
        _ amount: (Int64) -> Money?
    ) async throws -> Result<(id: RecordID, amount: Money)?, Refusal> {
        try await terms.settle(user) { try await store.carryOut($0) }
        for _ in 0..<Self.attemptLimit {
            let (account, hold) = try await terms.hold(of: user, source)
            guard let amount = amount(max(0, account.balance - hold.heldAmount)) else {
                return .success(nil)
            }
            let command = RequestWithdrawal(
                user: user,
                amount: amount,
                bankAccount: nil,
                source: source,
                hold: hold,
                needsRelease: false
            )
            switch try await store.commit(command) {
            case .success(let id): return .success((id, amount))
            case .failure(let refusal) where refusal.reason == .accountChanged: continue
            case .failure(let refusal): return .failure(refusal)
            }
        }
        return .failure(Refusal(.accountChanged))
    }
}
