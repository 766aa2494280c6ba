import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl pay`: pays the request in front of this device.
struct PayCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "pay",
        abstract: "Pay the request that this device is held against.",
        discussion: """
            EXAMPLES:
              gotchu-ctl pay
              gotchu-ctl pay --tip 2.00
              gotchu-ctl pay a1b2c3d4e5 --yes --max 50.00 --payee 5be39a04c1f27d68

            Shows the amount and the payee and asks before anything is sent. Names are not \
            unique, payees' ids are: 'scan --json' and 'history --json' have them. As long as \
            nothing was sent, Ctrl-C and the time limit end the payment. Exits with 0 if it was \
            paid, 1 if it certainly was not, 77 if this login may not spend, and 75 if that is not \
            known yet.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "Pay this request, by the ten hex digits that 'scan' shows.")
    var eid: String?

    @Flag(help: "Do not ask. Needs --max.")
    var yes = false

    @Option(help: .value("amount", "Add a tip, if the request allows one."))
    var tip: String?

    @Option(help: .value("amount", "Refuse to pay more than this, tip included."))
    var max: String?

    @Option(help: .value("code", "The currency of --tip and --max."))
    var currency: Currency = .usd

    @Option(help: .value("payee-id", "Refuse to pay any other payee."))
    var payee: String?

    @Flag(help: "Also accept a request that is near and not held against this device.")
    var near = false

    @Option(
        help: .value(
            "seconds",
            "Seconds to wait for a request to come near, and then for the payment's outcome."
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
        let tip = try money(self.tip, next: "gotchu-ctl pay --tip 2.00")
        let limit = try money(max, next: "gotchu-ctl pay --yes --max 50.00")
        if !yes {
            let unasked = "gotchu-ctl pay --yes --max \(max?.shellQuoted ?? "AMOUNT")"
            try Question(output: output).requireTerminal(next: unasked)
        }
        var proximity: Verdict?
        let eid: EID
        if let typed {
            eid = typed
        } else {
            let reach: PresenceList.Reach = near ? .near : .tap
            let selection = TargetSelection(reach: reach)
            let picked = try await selection.pick(client, output, limit: timeout.duration)
            eid = picked.eid
            // If the person chose among equally near requests, the distance does not prove the
            // choice.
            if picked.verdict != .ambiguous { proximity = reach.verdict }
        }
        let session = try await client.resolve(eid)
        let amount = TippedAmount(session.amount, tip: tip?.minorUnits)
        try refuseOthers(session, amount, tip, limit)
        try? await warn(of: session, client, output)
        try confirm(session, amount, output)

        let agreed = ContinuousClock.now
        let new = NewPayment(
            eid: eid,
            sid: session.sid,
            confirmAmountCents: session.amountCents,
            tipCents: tip?.minorUnits,
            confirmCurrency: session.currency,
            confirmPayee: session.payee,
            confirmPayeeID: session.payeeID,
            proximity: proximity
        )
        let unknownOutcome = CommandFailure.tryAgain(
            "gotchud has not answered: it may be paying \(amount) to "
                + "\(session.payee.quotedName). Do not pay again before you know.",
            next: "gotchu-ctl history"
        )
        let payment = try await PaymentWatch.begin(client, output, orElse: unknownOutcome) {
            try await client.retryingAfterLostConnection {
                try await client.createPayment(new, key: $0)
            }
        }
        let watch = PaymentWatch(payment: payment, since: agreed, output: output)
        try await watch.finish(client, limit: timeout.duration)
    }

    private func money(_ typed: String?, next: String) throws -> Money? {
        guard let typed else { return nil }
        return try Money(typed: typed, in: currency, allowed: 0 ... .max, next: next)
    }

    private func typedEID() throws -> EID? {
        guard let eid else { return nil }
        guard let typed = EID(eid) else {
            throw CommandFailure.badData(
                "'\(eid.printable)' is not an EID, which is ten hex digits.",
                next: "gotchu-ctl scan"
            )
        }
        return typed
    }

    /// Refuses a session that does not match the options: another payee or currency, a tip that is
    /// not allowed, or too much.
    private func refuseOthers(
        _ session: ResolvedSession,
        _ amount: TippedAmount,
        _ tip: Money?,
        _ limit: Money?
    ) throws {
        if let payee, payee != session.payeeID {
            let id = session.payeeID.map { " (\($0.printable))" } ?? ""
            throw CommandFailure.negative(
                "This is a request of \(session.payee.quotedName)\(id), not of "
                    + "\(payee.printable). Nothing was paid.",
                next: "gotchu-ctl scan"
            )
        }
        let whom = session.payee.quotedName
        if let tip, session.currency != currency {
            throw Self.nothingPaid("\(whom) requests \(session.amount), and --tip is \(tip).")
        }
        guard amount.tip == 0 || session.allowsTip == true else {
            throw Self.nothingPaid("\(whom) takes no tip with this request.")
        }
        let most = Money(minorUnits: Money.allowedRequest.upperBound, currency: session.currency)
        guard amount.tip == 0 || amount.total.minorUnits <= most.minorUnits else {
            throw CommandFailure.badData(
                "An amount and its tip are at most \(most) together.",
                next: "gotchu-ctl pay --tip 2.00"
            )
        }
        guard let limit else { return }
        guard session.currency == currency, amount.total.minorUnits <= limit.minorUnits else {
            throw Self.nothingPaid("\(whom) would get \(amount), and --max is \(limit).")
        }
    }

    private static func nothingPaid(_ reason: String) -> CommandFailure {
        .negative("\(reason) Nothing was paid.", next: "gotchu-ctl pay")
    }

    /// Warns if another payee nearby has the same name, or this device has not paid this payee
    /// before.
    private func warn(
        of session: ResolvedSession,
        _ client: LocalClient,
        _ output: Output
    ) async throws {
        guard let id = session.payeeID else { return }
        // Without a scan no presence is known; starting one would delay a payment by EID.
        let near = try await client.status().radio.isScanning ? client.sessions() : []
        let isDouble = near.contains { presence in
            presence.session.map { $0.payee == session.payee && $0.payeeID != id } ?? false
        }
        if isDouble {
            output.message("Another payee near has the same name. This one is \(id.printable).")
        } else if session.isPayeeKnown == false {
            output.message("This device has not paid this payee (\(id.printable)) before.")
        }
    }

    /// Shows the payment. Asks for confirmation, unless `--yes` was given.
    private func confirm(
        _ session: ResolvedSession,
        _ total: TippedAmount,
        _ output: Output
    ) throws {
        let amount = output.messages.paint(total.description, .bold)
        let payee = output.messages.paint(session.payee.quotedName, .bold)
        let what = "\(amount) to \(payee)\(session.purpose)"
        if yes { return output.message("Paying \(what)") }
        if session.allowsTip == true, total.tip == 0 {
            output.message("No tip is included; --tip AMOUNT adds one.")
        }
        guard Question(output: output).ask("Pay \(what)?") else {
            throw CommandFailure.negative("Nothing was paid.", next: "gotchu-ctl pay")
        }
    }
}
