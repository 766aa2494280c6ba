import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl refund`: refunds a paid request.
struct RefundCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "refund",
        abstract: "Refund a paid request, in full or in part.",
        discussion: """
            EXAMPLES:
              gotchu-ctl history
              gotchu-ctl refund 0198f3c1-7a5e-7c1e-9d53-0242ac120002
              gotchu-ctl refund 0198f3c1-7a5e-7c1e-9d53-0242ac120002 5.00 --yes

            The same request, amount and reference is the same refund: asked for again, however \
            much later, nothing more is refunded. To refund the same amount a second time, name it \
            with another --reference. A shared bill is refunded share by share, each by the \
            share's own id. Exits with 0 if it is refunded, now or before, 1 if it certainly is \
            not, 77 if this login may not refund, and 75 if that is not known yet.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(
        help: """
            The request's id or EID, as 'history' prints it; or the id of a share of a bill, as \
            'earnings history' prints it.
            """
    )
    var id: String

    @Argument(help: "The amount; all that is not refunded yet unless given.")
    var amount: String?

    @Option(
        help: .value(
            "text",
            "Your own name for this refund, to tell it from another of the same amount."
        )
    )
    var reference: String?

    @Option(help: .value("code", "The currency of the payment and the amount."))
    var currency: Currency?

    @Flag(help: "Do not ask.")
    var yes = false

    @Option(help: .value("seconds", "Seconds to wait for the outcome."))
    var timeout = Seconds(10)

    func run(_ client: LocalClient, _ output: Output) async throws {
        guard let given = SessionID(rawValue: id) else {
            throw CommandFailure.badData(
                "'\(id.printable)' is not a request's id.",
                next: "gotchu-ctl history"
            )
        }
        let money = try typedAmount()
        let question = Question(output: output)
        if !yes { try question.requireTerminal(next: unasked) }
        var request: RequestView?
        // The question shows the request. An EID is converted to the request's id.
        if !yes || EID(id) != nil {
            request = try await client.visibleRecords().requests?.first {
                $0.matches(id)
            }
        }
        if !yes {
            // Other tills refund too: only the server knows what is left.
            var fresh: RequestView?
            if let request { fresh = try? await client.refreshRequest(request.id) }
            try confirm(money, of: fresh ?? request, left: fresh?.left, question)
        }
        let agreed = ContinuousClock.now
        let new = NewRefund(
            sid: request?.id ?? given,
            amountCents: money?.minorUnits,
            currency: money?.currency ?? currency,
            reference: reference
        )
        let unknownOutcome = CommandFailure.tryAgain(
            "gotchud has not answered: it may be refunding. The same command again is "
                + "the same refund.",
            next: "gotchu-ctl history"
        )
        let refund = try await PaymentWatch.begin(
            client,
            output,
            kind: .refund,
            orElse: unknownOutcome
        ) {
            try await client.createRefund(new)
        }
        let watch = PaymentWatch(
            payment: refund,
            since: agreed,
            isRest: amount == nil,
            output: output
        )
        try await watch.finish(client, limit: timeout.duration)
    }

    private func typedAmount() throws -> Money? {
        guard let amount else { return nil }
        return try Money(
            typed: amount,
            in: currency ?? .usd,
            next: "gotchu-ctl refund \(id.shellQuoted) 5.00"
        )
    }

    /// The same command with `--yes` and its amount, currency and reference. A copied command thus
    /// never refunds more than was meant.
    private var unasked: String {
        var words = ["gotchu-ctl refund", id.shellQuoted]
        if let amount { words.append(amount.shellQuoted) }
        if let currency { words.append("--currency \(currency.rawValue)") }
        if let reference { words.append("--reference \(reference.shellQuoted)") }
        return (words + ["--yes"]).joined(separator: " ")
    }

    private func confirm(
        _ money: Money?,
        of request: RequestView?,
        left: Money?,
        _ question: Question
    ) throws {
        let paid = request.map { request in
            let memo = request.memo.map { " for \($0.quotedName)" } ?? ""
            return "\(request.amount)\(memo), \(request.createdAt.clockText)"
        }
        let terminal = question.output.messages
        let what =
            if let money {
                terminal.paint(money.description, .bold)
                    + (left.map { " of the \($0) that is left" } ?? "")
            } else if let left {
                terminal.paint(left.description, .bold) + ", all that is left,"
            } else {
                "all that is left"
            }
        guard question.ask("Refund \(what) of \(paid ?? id.printable)?") else {
            throw CommandFailure.negative("Nothing was refunded.", next: "gotchu-ctl history")
        }
    }
}

extension RequestView {
    /// The part of the payment that was not refunded; `nil` if nobody has paid, or several have:
    /// a bill's shares are refunded one by one, which the bill does not show.
    fileprivate var left: Money? {
        guard state == .paid, places == nil else { return nil }
        let rest = amount.total.minorUnits - (refundedCents ?? 0)
        return Money(minorUnits: rest, currency: currency)
    }
}
