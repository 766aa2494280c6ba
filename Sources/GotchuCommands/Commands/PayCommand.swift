import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl pay`: pay what is in front of you.
struct PayCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "pay",
        abstract: "Pay the request that this device is held against.",
        discussion: """
            EXAMPLES:
              gotchu-ctl pay
              gotchu-ctl pay a1b2c3d4e5 --yes --max 50.00

            Shows the amount and the payee and asks before anything is sent. Exits with 0 if it \
            was paid, 1 if it certainly was not, and 75 if that is not known yet.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "Pay this request, by the ten hex digits that 'scan' shows.")
    var eid: String?

    @Flag(help: "Do not ask. Needs --max.")
    var yes = false

    @Option(help: ArgumentHelp("Refuse to pay more than this.", valueName: "amount"))
    var max: String?

    @Flag(help: "Also accept a request that is near and not held against this device.")
    var near = false

    @Option(
        help: ArgumentHelp(
            "How long to wait for a request to come near, and then for the payment's end.",
            valueName: "seconds"
        )
    )
    var timeout = Seconds(10)

    func validate() throws {
        guard !yes || max != nil else {
            throw ValidationError("--yes needs --max AMOUNT, the most that may be paid unasked.")
        }
        guard eid == nil || !near else {
            throw ValidationError("--near picks a request, and this names one: leave one out.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        let typed = try typedEID()
        guard yes || Question(output: output).canBeAsked else {
            throw CommandFailure.usage(
                "There is no terminal to ask on, so --yes is needed.",
                next: "gotchu-ctl pay --yes --max \(max?.shellQuoted ?? "AMOUNT")"
            )
        }
        let reach: PresenceBoard.Reach? = typed == nil ? (near ? .near : .tap) : nil
        let eid: EID
        if let typed {
            eid = typed
        } else {
            let picking = Picking(reach: near ? .near : .tap)
            eid = try await picking.pick(client, output, limit: timeout.duration).eid
        }
        let session = try await client.resolve(eid)
        try refuseMoreThanMaximum(session)
        try confirm(session, output)

        let agreed = ContinuousClock.now
        let new = NewPayment(
            eid: eid,
            sid: session.sid,
            confirmAmountCents: session.amountCents,
            confirmPayee: session.payee,
            proximity: reach?.verdict
        )
        let doubt = CommandFailure.tryAgain(
            "gotchud has not answered: it may be paying \(session.amount) to "
                + "\(session.payee.printable). Do not pay again before you know.",
            next: "gotchu-ctl history"
        )
        let payment = try await PaymentWatch.begin(orElse: doubt) {
            try await client.repeating { try await client.createPayment(new, key: $0) }
        }
        let watch = PaymentWatch(payment: payment, since: agreed, output: output)
        try await watch.finish(client, limit: timeout.duration)
    }

    private func typedEID() throws -> EID? {
        if let max, Money(max, currency: .usd) == nil {
            throw CommandFailure.badData(
                "'\(max.printable)' is not an amount.",
                next: "gotchu-ctl pay --yes --max 50.00"
            )
        }
        guard let eid else { return nil }
        guard let typed = EID(eid) else {
            throw CommandFailure.badData(
                "'\(eid.printable)' is not an EID, which is ten hex digits.",
                next: "gotchu-ctl scan"
            )
        }
        return typed
    }

    private func refuseMoreThanMaximum(_ session: ResolvedSession) throws {
        guard let max else { return }
        let limit = Money(max, currency: session.currency)
        guard let limit, session.amountCents <= limit.minorUnits else {
            throw CommandFailure.negative(
                "\(session.payee.printable) asks for \(session.amount), and --max is \(max). "
                    + "Nothing was paid.",
                next: "gotchu-ctl pay"
            )
        }
    }

    /// Shows what would be paid; unless `--yes` was given, asks. The answer is no unless it is yes.
    private func confirm(_ session: ResolvedSession, _ output: Output) throws {
        let memo = session.memo.map { " for “\($0.printable)”" } ?? ""
        let amount = output.talking.paint(session.amount.description, .bold)
        let payee = output.talking.paint(session.payee.printable, .bold)
        if yes { return output.talk("Paying \(amount) to \(payee)\(memo)") }
        guard Question(output: output).ask("Pay \(amount) to \(payee)\(memo)?") else {
            throw CommandFailure.negative("Nothing was paid.", next: "gotchu-ctl pay")
        }
    }
}
