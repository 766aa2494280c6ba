import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl refund`: give back what a request was paid.
struct RefundCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "refund",
        abstract: "Give back what a request was paid, whole or in part.",
        discussion: """
            EXAMPLES:
              gotchu-ctl history
              gotchu-ctl refund 0198f3c1-7a5e-7c1e-9d53-0242ac120002
              gotchu-ctl refund 0198f3c1-7a5e-7c1e-9d53-0242ac120002 5.00 --yes

            The same request, amount and reference is the same refund: asked for again, however \
            much later, nothing more goes back. To give the same amount a second time, name it \
            with another --reference. Exits with 0 if the money went back, now or before, 1 if it \
            certainly did not, and 75 if that is not known yet.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The request's id, as 'history' prints it.")
    var id: String

    @Argument(help: "How much; all that has not gone back yet unless said.")
    var amount: String?

    @Option(
        help: ArgumentHelp(
            "Your own name for this refund, to tell it from another of the same amount.",
            valueName: "text"
        )
    )
    var reference: String?

    @Option(
        help: ArgumentHelp("What was paid in, and what the amount is in.", valueName: "code")
    )
    var currency: Currency?

    @Flag(help: "Do not ask.")
    var yes = false

    @Option(help: ArgumentHelp("How long to wait for the end.", valueName: "seconds"))
    var timeout = Seconds(10)

    func run(_ client: LocalClient, _ output: Output) async throws {
        guard let sid = SessionID(rawValue: id) else {
            throw CommandFailure.badData(
                "'\(id.printable)' is not a request's id.",
                next: "gotchu-ctl history"
            )
        }
        let money = try typedAmount()
        try confirm(money, output)
        let agreed = ContinuousClock.now
        let new = NewRefund(
            sid: sid,
            amountCents: money?.minorUnits,
            currency: money?.currency ?? currency,
            reference: reference
        )
        let doubt = CommandFailure.tryAgain(
            "gotchud has not answered: it may be giving the money back. The same command again is "
                + "the same refund.",
            next: "gotchu-ctl history"
        )
        let refund = try await PaymentWatch.begin(orElse: doubt) {
            try await client.createRefund(new)
        }
        let watch = PaymentWatch(payment: refund, since: agreed, output: output)
        try await watch.finish(client, limit: timeout.duration)
    }

    private func typedAmount() throws -> Money? {
        guard let amount else { return nil }
        let currency = currency ?? .usd
        guard let money = Money(amount, currency: currency),
            Money.allowedRequest.contains(money.minorUnits)
        else {
            throw CommandFailure.badData(
                "'\(amount.printable)' is not an amount in \(currency.rawValue).",
                next: "gotchu-ctl refund \(id.shellQuoted) 5.00"
            )
        }
        return money
    }

    /// The same command with `--yes`: whoever copies it must not give back more than he typed.
    private var unasked: String {
        var words = ["gotchu-ctl refund", id.shellQuoted]
        if let amount { words.append(amount.shellQuoted) }
        if let currency { words.append("--currency \(currency.rawValue)") }
        if let reference { words.append("--reference \(reference.shellQuoted)") }
        return (words + ["--yes"]).joined(separator: " ")
    }

    private func confirm(_ money: Money?, _ output: Output) throws {
        guard !yes else { return }
        let question = Question(output: output)
        guard question.canBeAsked else {
            throw CommandFailure.usage(
                "There is no terminal to ask on, so --yes is needed.",
                next: unasked
            )
        }
        let what = money?.description ?? "all that was paid"
        guard question.ask("Give \(output.talking.paint(what, .bold)) back?") else {
            throw CommandFailure.negative("Nothing went back.", next: "gotchu-ctl history")
        }
    }
}
