internal import ArgumentParser
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server payouts`.
struct Payouts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists, makes, stops and resumes withdrawals.",
        discussion: """
            Examples:
              gotchu-server payouts list --held --database sqlite:shop.db
              gotchu-server payouts run --minimum 10.00 --database sqlite:shop.db
              gotchu-server payouts return 0199... --database sqlite:shop.db
              gotchu-server payouts release corner@cafe.example --database sqlite:shop.db
            """,
        subcommands: [
            ListPayouts.self, PayOut.self, RunPayouts.self, RetryPayout.self, ReturnPayout.self,
            ReleasePayouts.self,
        ]
    )
}

/// `gotchu-server payouts list`.
struct ListPayouts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the withdrawals, newest first.",
        discussion: """
            Example:
              gotchu-server payouts list --held --database sqlite:shop.db

            One line for each withdrawal, its fields separated by tabs: id, user, state, amount, \
            reason, time of the order, the ids of its transfer and its payout at Stripe.
            """
    )

    @OptionGroup var database: DatabaseOption

    @Flag(help: "Only those that wait for the operator.")
    var held = false

    func run() async throws {
        let store = try database.store
        try await store.forEach(WithdrawalBody.kind) { record in
            let withdrawal = try Withdrawal(record)
            let waits = withdrawal.state == .held || withdrawal.body.needsRelease
            guard !held || waits else { return }
            let body = withdrawal.body
            Console.output(
                [
                    withdrawal.id.rawValue, withdrawal.owner.rawValue,
                    withdrawal.state.rawValue, withdrawal.amount.decimalText,
                    body.needsRelease ? "waiting_for_release" : body.reason?.code ?? "-",
                    withdrawal.createdAt.iso8601, body.transfer ?? "-", body.payout ?? "-",
                ].joined(separator: "\t")
            )
        }
    }
}

/// `gotchu-server payouts retry`.
struct RetryPayout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Resumes a held withdrawal.",
        discussion: """
            Example:
              gotchu-server payouts retry 0199... --database sqlite:shop.db
            """
    )

    @Argument(help: "The withdrawal's id.")
    var withdrawal: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let resumed = try await database.store.resume(withdrawal, isReturned: false)
        Console.output("Withdrawal \(resumed.id) is resumed: the running server calls Stripe.")
    }
}

/// `gotchu-server payouts return`.
struct ReturnPayout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "return",
        abstract: "Returns the money of a held or pending withdrawal to the wallet.",
        discussion: """
            Example:
              gotchu-server payouts return 0199... --database sqlite:shop.db

            The money of a pending withdrawal that has not reached Stripe is in the wallet at \
            once. Otherwise the running server reverses the transfer at Stripe, or makes sure that \
            there is none, and then credits the wallet.
            """
    )

    @Argument(help: "The withdrawal's id.")
    var withdrawal: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let resumed = try await database.store.resume(withdrawal, isReturned: true)
        Console.output(
            resumed.state == .failed
                ? "Withdrawal \(resumed.id) is stopped. Its money is in the wallet."
                : "Withdrawal \(resumed.id) will be returned: the running server calls Stripe."
        )
    }
}

/// `gotchu-server payouts release`.
struct ReleasePayouts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Lets a new payee withdraw, now and from now on.",
        discussion: """
            Example:
              gotchu-server payouts release corner@cafe.example --database sqlite:shop.db
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let store = try database.store
        let user = try await store.user(user)
        var waiting: [RecordID] = []
        try await store.forEach(WithdrawalBody.kind, of: user.id) { record in
            if try Withdrawal(record).body.needsRelease { waiting.append(record.id) }
        }
        _ = try await store.carryOut(ReleasePayee(user.id, withdrawals: waiting))
        Console.output("User \(user.id) may withdraw. Withdrawals resumed: \(waiting.count).")
    }
}

extension Store {
    /// Carries out the operator's decision on a withdrawal.
    ///
    /// - Throws: A failure that says what to do instead, if the decision is refused.
    fileprivate func resume(_ withdrawal: String, isReturned: Bool) async throws -> Withdrawal {
        let id = RecordID(trusted: withdrawal)
        switch try await commit(ResumeWithdrawal(id, isReturned: isReturned)) {
        case .success(let resumed): return resumed
        case .failure(let refusal):
            guard refusal.reason == .withdrawalTooLate, let record = try await self.record(id)
            else { throw ServerFailure(.negative, refusal.problem.detail) }
            throw try Withdrawal(record).refusedDecision(isReturned: isReturned)
        }
    }
}

extension FundingRecord where Body == WithdrawalBody {
    /// The failure of a decision on it that was refused: what can be done instead.
    fileprivate func refusedDecision(isReturned: Bool) -> ServerFailure {
        let (sentence, fix): (String, String?) =
            switch state {
            case .paid: ("is paid: the bank has the money.", nil)
            case .failed, .cancelled: ("has ended. Its money is in the wallet.", nil)
            case .held where isReturned:
                ("cannot be returned as it is.", "gotchu-server payouts retry \(id)")
            case .held: ("can only be returned.", "gotchu-server payouts return \(id)")
            case .pending where body.needsRelease:
                ("waits for your release.", "gotchu-server payouts release \(owner)")
            case .pending, .sent, .inTransit, .returning:
                ("is not held: the running server completes it.", nil)
            }
        return ServerFailure(.negative, "Withdrawal \(id) \(sentence)", fix: fix)
    }
}
