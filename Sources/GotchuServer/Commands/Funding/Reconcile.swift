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
            Example:
              gotchu-server reconcile --database sqlite:shop.db \\
                --stripe-key-file /etc/gotchu/stripe

            Compares every transaction of Stripe's balance with the books, both balances, and what \
            lies at payees' accounts. Prints a line for each, "ok", "note" or "DIFF", and exits \
            with 1 if there is a difference. A note is none: a closed account, or a change that \
            the running server has not checked yet. Nothing is changed without --book or --adopt.
            """
    )

    @OptionGroup var database: DatabaseOption
    @OptionGroup(title: "Stripe") var stripe: StripeFlags

    @Flag(help: "Book transactions of the platform's own: top-ups, payouts, fees, adjustments.")
    var book = false

    @Flag(help: "Adopt paid deposits that the books have lost: after an old backup was restored.")
    var adopt = false

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
