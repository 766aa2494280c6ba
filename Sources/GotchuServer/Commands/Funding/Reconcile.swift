internal import ArgumentParser
internal import AsyncHTTPClient
internal import Funding
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess
internal import Stripe

/// `gotchu-server reconcile`.
struct Reconcile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Proves that the books agree with Stripe about the money at Stripe.",
        discussion: """
            Examples, the second one after an old backup was restored:
              gotchu-server reconcile --database sqlite:shop.db \\
                --stripe-key-file /etc/gotchu/stripe
              gotchu-server reconcile --adopt --as 0199...=ann@home.example \\
                --database sqlite:shop.db --stripe-key-file /etc/gotchu/stripe

            Compares every transaction of Stripe's balance with the books, both balances, and what \
            lies at payees' accounts. Prints a line for each, "ok", "note" or "DIFF", and exits \
            with 1 if there is a difference. A note is none: a closed account, money of a deposit \
            that was dropped and refunded, or a change that the running server has not checked \
            yet. Nothing is changed without --book or --adopt.
            """
    )

    @OptionGroup var database: DatabaseOption
    @OptionGroup(title: "Stripe") var stripe: StripeFlags

    @Flag(help: "Book transactions of the platform's own: top-ups, payouts, fees, adjustments.")
    var book = false

    @Flag(help: "Adopt paid deposits that the books have lost: after an old backup was restored.")
    var adopt = false

    @Option(
        name: .customLong("as"),
        help: .value(
            "old=user",
            "Adopt for USER what the lost user with the id OLD paid in and withdrew."
        )
    )
    var replacements: [String] = []

    func validate() throws {
        guard replacements.isEmpty || adopt else { throw ValidationError("--as needs --adopt") }
    }

    func run() async throws {
        let flags = stripe.values.merging(["database": database.text]) { $1 }
        let settings = try ServerSettings(flags: flags)
        guard let access = try settings.stripeAccess else {
            throw ServerFailure(
                .usage,
                "Stripe cannot be asked without a key.",
                fix: "Name its file with --stripe-key-file."
            )
        }
        let store = try database.store
        let named = try await namedReplacements(in: store)
        let http = HTTPClient(configuration: StripeClient.httpConfiguration)
        let client = StripeClient(address: access.address, secret: access.secret, http: http)
        let site = try settings.publicURL ?? Self.nowhere
        let result: Result<Int, any Error>
        do {
            let run = ReconciliationRun(
                store: store,
                provider: StripeProvider(client: client, site: site),
                booksPlatform: book,
                adopts: adopt,
                replacements: named,
                isLive: access.secret.isLive
            )
            result = .success(try await run.run())
        } catch {
            result = .failure(error)
        }
        try await http.shutdown()
        let differences = try result.get()
        guard differences == 0 else {
            throw ServerFailure(
                .negative,
                "The books and Stripe differ in \(differences) places.",
                fix: "See \"Money in and out\" in "
                    + "/usr/share/doc/gotchu-server/operations.md."
            )
        }
        Console.output("The books and Stripe say the same.")
    }

    /// Returns the user of these books for each lost user that `--as` names.
    ///
    /// - Throws: A failure if the books know the lost one: money of a known user is only theirs.
    private func namedReplacements(in store: any Store) async throws -> [UserID: UserID] {
        var named: [UserID: UserID] = [:]
        for pair in replacements {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw ServerFailure(.usage, "--as is written as OLD=USER.")
            }
            let lost = UserID(trusted: parts[0])
            guard try await store.user(id: lost, orLogin: parts[0]) == nil else {
                throw ServerFailure(
                    .negative,
                    "Nothing was adopted: these books know user \(lost).",
                    fix: "Leave this --as out: what they paid is adopted for them."
                )
            }
            named[lost] = try await store.user(parts[1]).id
        }
        return named
    }

    /// A placeholder for the server's address: `reconcile` redirects no user.
    private static var nowhere: PublicURL {
        get throws {
            guard let site = PublicURL("http://127.0.0.1:1") else {
                throw ServerFailure(.bug, "A constant address is none.")
            }
            return site
        }
    }
}

extension StripeOutcome {
    /// The failure of a comparison that got this outcome instead of a reply.
    var serverFailure: ServerFailure {
        switch self {
        case .misconfigured:
            ServerFailure(
                .configuration,
                "Stripe refuses the key, or does not let it do this: nothing was compared.",
                fix: "Put the right key into the file of --stripe-key-file, and restart the "
                    + "server. A restricted key must be allowed to read the account, balances, "
                    + "transactions, payments, accounts and payouts."
            )
        case .done, .refused, .insufficient, .unknown, .unresolved, .throttled, .keyReused:
            ServerFailure(
                .tryAgain,
                "Stripe did not answer: nothing was compared.",
                fix: "Run it again."
            )
        }
    }
}
