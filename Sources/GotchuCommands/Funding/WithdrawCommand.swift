import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl withdraw`: pays money from the wallet to a bank account.
struct WithdrawCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Pay money of the wallet to your bank.",
        discussion: """
            EXAMPLES:
              gotchu-ctl withdraw 50.00
              gotchu-ctl withdraw 50.00 --yes

            Money that came lately stays for as long as the operator says, two days unless \
            changed. gotchud writes the order down before it sends it, and pays out once \
            whatever happens. Exits with 0 once the server has the order, 1 if it certainly has \
            not, 65 if it does not accept the amount or the bank account, 77 if this login may \
            not withdraw, and 75 if that is not known yet.
            """
    )

    private static let pause: Duration = .milliseconds(200)

    @OptionGroup var options: CommonOptions

    @Argument(help: "The amount.")
    var amount: String

    @Option(
        name: .customLong("bank-account"),
        help: .value("id", "One of your bank accounts at the provider.")
    )
    var bankAccount: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @Option(help: .value("seconds", "Seconds to wait for the server's word."))
    var timeout = Seconds(10)

    func run(_ client: LocalClient, _ output: Output) async throws {
        let money = try Money(typed: amount, next: "gotchu-ctl withdraw 50.00")
        let question = Question(output: output)
        if !yes {
            try question.requireTerminal(next: "gotchu-ctl withdraw \(money.decimalText) --yes")
        }
        guard yes || question.ask("Pay \(output.messages.paint("\(money)", .bold)) to your bank?")
        else {
            throw CommandFailure.negative("Nothing was withdrawn.", next: "gotchu-ctl wallet")
        }
        let new = NewWithdrawal(amountCents: money.minorUnits, bankAccountID: bankAccount)
        var view = try await client.retryingAfterLostConnection {
            try await client.withdraw(new, key: $0)
        }
        let end = ContinuousClock.now + timeout.duration
        while view.state == .sending || view.state == .unknown, ContinuousClock.now < end {
            // gotchud has no event for a withdrawal: poll. The time limit ends this.
            try await Task.sleep(for: Self.pause)
            view = try await client.withdrawal(view.id)
        }
        try finish(view, output)
    }

    private func finish(_ view: WithdrawalView, _ output: Output) throws {
        switch view.state {
        case .ordered:
            if output.isJSON { return try output.json(view) }
            guard let withdrawal = view.withdrawal else { return output.line(view.detail) }
            output.line(withdrawal.sentence)
        case .declined:
            throw CommandFailure.about(view, refusal(view))
        case .sending, .unknown:
            throw CommandFailure.about(
                view,
                .tryAgain(view.detail.printable, next: "gotchu-ctl payouts")
            )
        }
    }

    private func refusal(_ view: WithdrawalView) -> CommandFailure {
        let sentence = view.detail.printable
        let code = view.code.flatMap(ErrorCode.init(rawValue:))
        switch code {
        case .forbidden?: return .forbidden(sentence, next: DeviceAdvice.withdraw)
        case .validationError?: return .badData(sentence, next: invocation.helpCommand)
        // `payouts` shows how much is still too recent to be withdrawn; `wallet` does not.
        case .insufficientWalletBalance?, nil:
            return .negative(sentence, next: "gotchu-ctl payouts")
        case let code?: return .negative(sentence, next: code.defaultFix)
        }
    }
}

extension WithdrawalReply {
    /// The withdrawal in one sentence: `Withdrawal 0199… of $50.00 pending; the bank has it about
    /// 2026-11-25 00:00`.
    var sentence: String {
        let when = arrivalDate.map { "; the bank has it about \($0.value.dateText)" } ?? ""
        let why = reasonText.map { " (\($0.printable))" } ?? ""
        return "Withdrawal \(withdrawalID.printable) of \(amount) \(status.rawValue)\(why)\(when)"
    }
}
