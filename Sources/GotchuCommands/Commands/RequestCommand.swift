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

    @Option(help: ArgumentHelp("The currency.", valueName: "code"))
    var currency: Currency = .usd

    @Option(help: ArgumentHelp("A note that the payer sees.", valueName: "text"))
    var memo: String?

    @Option(
        help: ArgumentHelp(
            "Give up after this time: 1 to 300, for a shared bill to 3600.",
            valueName: "seconds"
        )
    )
    var ttl: Int?

    @Flag(name: .customLong("allow-tip"), help: "Let the payer add a tip.")
    var allowsTip = false

    @Option(help: ArgumentHelp("Share the bill equally by so many payers.", valueName: "payers"))
    var split: Int?

    @Option(help: ArgumentHelp("Share the bill in these amounts: 20,15,15.", valueName: "amounts"))
    var shares: String?

    @Flag(name: .customLong("all-or-nothing"), help: "Get all shares of a bill, or none.")
    var isAllOrNothing = false

    @Flag(name: .customLong("no-wait"), help: "Return as soon as the request is on the air.")
    var isNotWaited = false

    func run(_ client: LocalClient, _ output: Output) async throws {
        let new = try parsed()
        if isNotWaited {
            let request = try await client.repeating {
                try await client.createRequest(new, key: $0)
            }
            try announceOnly(request, output)
            try? await Self.warn(beside: request.id, client, output)
            return
        }
        // A signal while the request is being made must cancel the request too.
        let trap = SignalTrap()
        // Not cancelled: a request that may be on the air must be known before it can be cancelled.
        // SAFETY: it is awaited below whatever happens.
        let making = Task {
            try await client.repeating { try await client.createRequest(new, key: $0) }
        }
        switch try await race(
            trap: trap,
            { try await follow(making, client, output) }
        ) {
        case .finished(let (watch, end)):
            try watch.reportEnd(end)
        case .interrupted, .timedOut:
            try await cancel(making, client, output)
        }
    }

    /// Awaits the request, announces it, and follows it to its end.
    private func follow(
        _ making: Task<RequestView, any Error>,
        _ client: LocalClient,
        _ output: Output
    ) async throws -> (RequestWatch, RequestView) {
        let request = try await withTaskCancellationHandler {
            try await making.value
        } onCancel: {
            Self.announceCancel(output)
        }
        try Task.checkCancellation()
        let watch = RequestWatch(request: request, output: output)
        watch.announce()
        try? await Self.warn(beside: request.id, client, output)
        // Printed only once nothing is drawn any more.
        defer { if Task.isCancelled { Self.announceCancel(output) } }
        do {
            return (watch, try await watch.untilEnd(client))
        } catch let failure as LocalClientFailure {
            // Without this nobody would learn of its end.
            let end = try await cancel(request, client, output)
            guard end.state == .cancelled else { return (watch, end) }
            output.talk("The request was cancelled, as it cannot be followed.")
            throw CommandFailure.about(end, .client(failure))
        }
    }

    /// Warns of other open requests: requests of one device are equally near to a payer.
    private static func warn(
        beside id: SessionID,
        _ client: LocalClient,
        _ output: Output
    ) async throws {
        let others = try await client.requests().filter { $0.id != id && $0.isOnAir }
        guard let other = others.first else { return }
        let many = others.count == 1 ? "Another request is" : "\(others.count) other requests are"
        output.talk("\(many) on the air here, so that payers must choose between them.")
        output.talk("Cancel one:             gotchu-ctl cancel \(other.id)")
    }

    private static func announceCancel(_ output: Output) {
        output.talk("Cancelling the request …; Ctrl-C again leaves it open.")
    }

    private func parsed() throws -> NewRequest {
        let next = "gotchu-ctl request 50.00"
        guard let money = Money(amount, currency: currency) else {
            throw CommandFailure.badData(
                Money.misreading(amount, in: currency),
                next: next
            )
        }
        guard Money.allowedRequest.contains(money.minorUnits) else {
            let least = Money(minorUnits: Money.allowedRequest.lowerBound, currency: currency)
            let most = Money(minorUnits: Money.allowedRequest.upperBound, currency: currency)
            throw CommandFailure.badData(
                "An amount is between \(least) and \(most).",
                next: next
            )
        }
        let terms = try sharing(money)
        let longest = terms == nil ? 300 : 3_600
        guard ttl.map((1...longest).contains) ?? true else {
            throw CommandFailure.badData(
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
                throw CommandFailure.badData(
                    "--all-or-nothing needs --split or --shares.",
                    next: next + " --all-or-nothing"
                )
            }
            return nil
        }
        guard split == nil || shares == nil else {
            throw CommandFailure.badData("Name either --split or --shares, not both.", next: next)
        }
        guard !allowsTip else {
            throw CommandFailure.badData("A shared bill allows no tip.", next: next)
        }
        let own = try shares.map { try Self.amounts($0, in: currency) }
        guard (2...50).contains(own?.count ?? split ?? 0) else {
            throw CommandFailure.badData("2 to 50 payers can share a bill.", next: next)
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
            let part = String(part.filter { $0 != " " })
            guard let share = Money(part, currency: currency),
                Money.allowedRequest.contains(share.minorUnits)
            else {
                throw CommandFailure.badData(
                    Money.misreading(part, in: currency),
                    next: "gotchu-ctl request 50.00 --shares 20,15,15"
                )
            }
            return share
        }
    }

    private func announceOnly(_ request: RequestView, _ output: Output) throws {
        guard !output.isJSON else { return try output.json(request) }
        output.line(
            "\(request.eid) · \(request.amount) · expires \(request.expiresAt.clockText)"
        )
        output.talk("See what becomes of it: gotchu-ctl wait --for paid:\(request.id)")
        output.talk("Cancel it:              gotchu-ctl cancel \(request.id)")
    }

    private func cancel(
        _ making: Task<RequestView, any Error>,
        _ client: LocalClient,
        _ output: Output
    ) async throws {
        // A failure to make it is reported as without an interruption.
        let request = try await making.value
        let end = try await cancel(request, client, output)
        try RequestWatch(request: request, output: output).reportEnd(end)
    }

    private func cancel(
        _ request: RequestView,
        _ client: LocalClient,
        _ output: Output
    ) async throws -> RequestView {
        do {
            return try await client.cancelRequest(request.id)
        } catch LocalClientFailure.problem(let problem) where problem.errorCode == .sessionBusy {
            throw CommandFailure.negative(
                "A payer is paying at this moment, so it cannot be cancelled.",
                next: "gotchu-ctl wait --for paid:\(request.id)"
            )
        } catch let failure as LocalClientFailure {
            output.talk("The request could not be cancelled; it may still be paid.")
            throw failure
        }
    }
}

extension Currency: ExpressibleByArgument {
    /// Accepts upper and lower case: ISO 4217 itself writes its codes in capitals.
    public init?(argument: String) {
        self.init(rawValue: argument.lowercased())
    }
}
