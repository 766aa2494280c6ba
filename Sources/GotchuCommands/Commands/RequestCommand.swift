import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl request`: requests a payment and waits for it.
struct RequestCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Request an amount, and wait until somebody nearby pays it.",
        discussion: """
            EXAMPLES:
              gotchu-ctl request 50.00 --memo "Coffee"
              gotchu-ctl request 12 --ttl 60 --json
              gotchu-ctl request 40 --allow-tip
              gotchu-ctl request 50.00 --split 5
              gotchu-ctl request 50.00 --shares 20,15,15 --all-or-nothing

            A bill can be shared by 2 to 50 payers, who each pay one share at this kiosk. Each \
            share is yours at once; with --all-or-nothing you get them with the last one, and if \
            it is not paid in time all go back.

            Ctrl-C cancels the request, and so do SIGTERM and the terminal's end. \
            Exits with 1 if it expired or was cancelled.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The amount: 50, 50.00, 0.5.")
    var amount: String

    @Option(help: .value("code", "The currency."))
    var currency: Currency = .usd

    @Option(help: .value("text", "A note that the payer sees."))
    var memo: String?

    @Option(
        help: .value("seconds", "Give up after this time: 1 to 300, for a shared bill to 3600.")
    )
    var ttl: Int?

    @Flag(name: .customLong("allow-tip"), help: "Let the payer add a tip.")
    var allowsTip = false

    @Option(help: .value("payers", "Share the bill equally by so many payers."))
    var split: Int?

    @Option(help: .value("amounts", "Share the bill in these amounts: 20,15,15."))
    var shares: String?

    @Flag(name: .customLong("all-or-nothing"), help: "Get all shares of a bill, or none.")
    var isAllOrNothing = false

    @Flag(name: .customLong("no-wait"), help: "Return as soon as the request is on the air.")
    var doesNotWait = false

    func run(_ client: LocalClient, _ output: Output) async throws {
        let run = RequestRun(new: try parsed(), client: client, output: output)
        try await doesNotWait ? run.begin() : run.runToEnd()
    }

    private func parsed() throws -> NewRequest {
        let next = "gotchu-ctl request 50.00"
        let money = try Money(typed: amount, in: currency, next: next)
        let terms = try sharing(money)
        let longest = terms == nil ? 300 : 3_600
        guard ttl.map((1...longest).contains) ?? true else {
            throw CommandFailure.usage(
                "--ttl is 1 to \(longest) seconds.",
                next: next + " --ttl \(longest)"
            )
        }
        return NewRequest(
            amountCents: money.minorUnits,
            currency: currency,
            memo: memo,
            ttlSeconds: ttl,
            allowsTip: allowsTip ? true : nil,
            split: terms
        )
    }

    /// The terms on which the bill is shared; `nil` if one payer pays it.
    private func sharing(_ amount: Money) throws -> SplitTerms? {
        let next = "gotchu-ctl request 50.00 --split 5"
        guard split != nil || shares != nil else {
            guard !isAllOrNothing else {
                throw CommandFailure.usage(
                    "--all-or-nothing needs --split or --shares.",
                    next: next + " --all-or-nothing"
                )
            }
            return nil
        }
        guard split == nil || shares == nil else {
            throw CommandFailure.usage("Name either --split or --shares, not both.", next: next)
        }
        guard !allowsTip else {
            throw CommandFailure.usage("A shared bill allows no tip.", next: next)
        }
        let own = try shares.map { try Self.amounts($0, in: currency) }
        guard SplitTerms.allowedShares.contains(own?.count ?? split ?? 0) else {
            throw CommandFailure.usage("2 to 50 payers can share a bill.", next: next)
        }
        let sum = own?.map(\.minorUnits).reduce(0, +) ?? amount.minorUnits
        guard sum == amount.minorUnits else {
            throw CommandFailure.badData(
                "The shares come to \(Money(minorUnits: sum, currency: currency)), not "
                    + "to \(amount).",
                next: "gotchu-ctl request 50.00 --shares 20,15,15"
            )
        }
        return SplitTerms(
            shares: split,
            shareCents: own?.map(\.minorUnits),
            isAllOrNothing: isAllOrNothing ? true : nil
        )
    }

    private static func amounts(_ text: String, in currency: Currency) throws -> [Money] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            try Money(
                typed: String(part.filter { $0 != " " }),
                in: currency,
                next: "gotchu-ctl request 50.00 --shares 20,15,15"
            )
        }
    }
}

extension Currency: ExpressibleByArgument {
    /// Accepts upper and lower case: ISO 4217 itself writes its codes in capitals.
    public init?(argument: String) {
        self.init(rawValue: argument.lowercased())
    }
}
