internal import ArgumentParser
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server payees`.
struct Payees: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows and invites payees, sets their terms, and forgives what users owe.",
        discussion: """
            Examples:
              gotchu-server payees list --database sqlite:shop.db
              gotchu-server payees invite corner@cafe.example --database sqlite:shop.db
              gotchu-server payees take corner@cafe.example 2000 --database sqlite:shop.db
              gotchu-server payees forgive ann@home.example 12.50 --database sqlite:shop.db
            """,
        subcommands: [
            ListPayees.self, InvitePayee.self, LinkUser.self, RenewAccount.self, SetTake.self,
            ForgivePayee.self,
        ]
    )
}

/// `gotchu-server payees list`.
struct ListPayees: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the payees, and the other users who owe.",
        discussion: """
            Example:
              gotchu-server payees list --database sqlite:shop.db

            One line for each, separated by tabs: user, state, whether withdrawals were released, \
            the account's id at Stripe, or the user whose account it is, what Stripe still wants \
            to know, what the user owes. Users who owe and are no payees follow, with "-" for all \
            but their id and what they owe.
            """
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let store = try database.store
        var debtors = try await store.debtors()
        try await store.forEach(PayeeBody.kind) { record in
            let payee = try Payee(record)
            debtors.removeAll { $0 == payee.owner }
            let fields = [
                payee.state.rawValue, payee.body.isReleased ? "released" : "new",
                payee.body.payeeOf?.rawValue ?? payee.body.account ?? "-",
                payee.body.disabledReason == PayeeBody.closed
                    ? PayeeBody.closed : payee.body.currentlyDue.joined(separator: ","),
            ]
            try await list(payee.owner, fields, store)
        }
        for user in debtors { try await list(user, ["-", "-", "-", "-"], store) }
    }

    private func list(_ user: UserID, _ fields: [String], _ store: any Store) async throws {
        let owed = Money(
            minorUnits: try await store.debt(of: user),
            currency: FundingOperations.currency
        )
        Console.output(([user.rawValue] + fields + [owed.decimalText]).joined(separator: "\t"))
    }
}

/// `gotchu-server payees invite`.
struct InvitePayee: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Prints an address at which a payee sets up payouts without a login.",
        discussion: """
            Example:
              gotchu-server payees invite corner@cafe.example --database sqlite:shop.db \\
                --public-url https://pay.example

            The address is good for a week, and ends when payouts are set up. Whoever has it can \
            name the bank account that is paid: send it to the payee alone. A preview of the \
            message spends nothing.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Option(help: .value("url", "The server's address for browsers: https://HOST."))
    var publicURL: String?

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let flags = ["database": database.text, "public_url": publicURL]
        guard let site = try ServerSettings(flags: flags).publicURL else {
            throw ServerFailure(
                .usage,
                "The address that browsers open is not known.",
                fix: "Name it with --public-url https://HOST or GOTCHU_SERVER_PUBLIC_URL."
            )
        }
        let books = try await database.signing
        let user = try await books.store.user(user)
        let ticket = PayeeTicket(for: user.id, .invitation, at: books.store.now)
        Console.error("For user \(user.id) alone, until \(ticket.expiresAt.iso8601):")
        Console.output(
            site.origin + ticket.path(by: PayeeTicket.key(of: LocalTokenIssuer(books.secret)))
        )
    }
}

/// `gotchu-server payees link`.
struct LinkUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Has a user's withdrawals paid to another user's account at Stripe.",
        discussion: """
            Examples, a second shop of the same owner, and back:
              gotchu-server payees link second@cafe.example --to corner@cafe.example \\
                --database sqlite:shop.db
              gotchu-server payees link second@cafe.example --to second@cafe.example \\
                --database sqlite:shop.db

            The wallets stay apart. Withdrawals that were made before go where they went.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Option(help: .value("user", "The user whose account it is."))
    var to: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let store = try database.store
        let (user, other) = (try await store.user(user).id, try await store.user(to).id)
        _ = try await store.carryOut(LinkPayee(user, to: other))
        Console.output("User \(user) is paid out to the account of \(other) from now on.")
    }
}

/// `gotchu-server payees renew`.
struct RenewAccount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Lets a payee set up another account, since theirs at Stripe is closed.",
        discussion: """
            Example:
              gotchu-server payees renew corner@cafe.example --database sqlite:shop.db

            For an account that is restricted and will stay so: account_closed in "payees list". \
            The payee sets payouts up again. Withdrawals that were made before stay with the old \
            account. A withdrawal with the reason account_closed is something else: its bank \
            account is closed, and the payee names another one at Stripe.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let store = try database.store
        let user = try await store.user(user).id
        guard try await store.carryOut(RenewPayee(user)) else {
            throw ServerFailure(
                .negative,
                "The payee's account is not restricted: it was not replaced.",
                fix: "Close it at Stripe first, and have the payee look at their payouts."
            )
        }
        Console.output("User \(user) sets payouts up again: gotchu-ctl payouts setup.")
    }
}

/// `gotchu-server payees take`.
struct SetTake: AsyncParsableCommand {
    /// The maximum share, half of a sale. With more, the operator would in fact be the seller.
    private static let most: Int64 = 5_000

    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract: "Sets the operator's part of a payee's further sales.",
        discussion: """
            Example, twenty percent:
              gotchu-server payees take corner@cafe.example 2000 --database sqlite:shop.db

            "usual" is GOTCHU_SERVER_TAKE_BASIS_POINTS again. A session keeps the part with which \
            it was requested.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Argument(help: "Hundredths of a percent: 0 to 5000, or usual.")
    var basisPoints: String

    @OptionGroup var database: DatabaseOption

    /// The share in basis points; `nil` for the default.
    private var part: Int64? { basisPoints == "usual" ? nil : Int64(basisPoints) }

    func validate() throws {
        guard basisPoints == "usual" || part.map((0...Self.most).contains) == true else {
            throw ValidationError("a part is 0 to \(Self.most) hundredths of a percent, or usual")
        }
    }

    func run() async throws {
        let store = try database.store
        let user = try await store.user(user)
        let part = part
        _ = try await store.carryOut(SetTerms(user.id) { $0.takeBasisPoints = part })
        let text = part.map { "\($0) hundredths of a percent" } ?? "the usual part"
        Console.output("User \(user.id): \(text) from now on.")
    }
}

/// `gotchu-server payees forgive`.
struct ForgivePayee: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forgive",
        abstract: "Forgives a part of what a user owes, at the operator's loss.",
        discussion: """
            Example:
              gotchu-server payees forgive ann@home.example 12.50 --database sqlite:shop.db

            Refused while a dispute of the user's deposits is open: if it is won, the money that \
            comes back is the user's. A refund to a card is not checked: if the bank returns it \
            later, that money is the user's too. Wait until it has arrived.
            """
    )

    @Argument(help: "The user: an id, an e-mail address, or <issuer>subject.")
    var user: String

    @Argument(help: "The amount: 12.50.")
    var amount: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard let amount = Money(amount), amount.minorUnits > 0 else {
            throw ServerFailure(.usage, "An amount is written as 12.50.")
        }
        let store = try database.store
        let user = try await store.user(user).id
        // The debt is read first: a dispute that is booked after the look at the deposits changes
        // it, and the command is refused.
        let debt = try await store.debt(of: user)
        try await store.forEach(DepositBody.kind, of: user) { record in
            if try Deposit(record).body.mayBeReturned { throw Self.disputed(record.id) }
        }
        switch try await store.commit(ForgiveDebt(user, amount, of: debt)) {
        case .success(let rest):
            let left = Money(minorUnits: rest, currency: amount.currency)
            Console.output(
                "Forgiven: \(amount.decimalText). User \(user) still owes \(left.decimalText)."
            )
        case .failure(let refusal):
            throw Self.failure(refusal, user, amount)
        }
    }

    private static func disputed(_ deposit: RecordID) -> ServerFailure {
        ServerFailure(
            .negative,
            "Nothing was forgiven: deposit \(deposit) is disputed. If the dispute is won, the "
                + "money comes back to the user.",
            fix: "Wait until Stripe's dashboard says that it is won or lost. If it says so "
                + "already, resend the event charge.dispute.closed there."
        )
    }

    private static func failure(
        _ refusal: Refusal,
        _ user: UserID,
        _ amount: Money
    ) -> ServerFailure {
        guard refusal.reason != .accountChanged else {
            return ServerFailure(
                .tryAgain,
                "Nothing was forgiven: what user \(user) owes has just changed.",
                fix: "Run it again."
            )
        }
        guard refusal.reason == .insufficientBalance, let debt = refusal.available else {
            return ServerFailure(.negative, refusal.problem.detail)
        }
        guard debt > 0 else {
            return ServerFailure(.negative, "Nothing was forgiven: user \(user) owes nothing.")
        }
        let owed = Money(minorUnits: debt, currency: amount.currency).decimalText
        return ServerFailure(
            .negative,
            "Nothing was forgiven: user \(user) owes \(owed), less than \(amount.decimalText).",
            fix: "Name an amount of at most \(owed)."
        )
    }
}
