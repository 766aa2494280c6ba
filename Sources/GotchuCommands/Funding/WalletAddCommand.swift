import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl wallet add`: fills the wallet from a card.
struct WalletAddCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Fill the wallet from a card, on a page that any phone opens.",
        discussion: """
            EXAMPLES:
              gotchu-ctl wallet add 20.00
              gotchu-ctl wallet add 20.00 --timeout 60 --json

            Prints the address of the payment provider's page, on a terminal also as a QR code, \
            and waits until the card is charged. Ctrl-C stops waiting and takes nothing back: the \
            page stays open for two hours. Exits with 0 if the money is in the wallet, 1 if it \
            certainly is not, 77 if this login may not spend, and 75 if that is not known yet.
            """
    )

    /// The interval at which the deposit is polled.
    private static let pause: Duration = .seconds(2)

    @OptionGroup var options: CommonOptions

    @Argument(help: "The amount.")
    var amount: String

    @Option(help: .value("seconds", "Seconds to wait for the card."))
    var timeout = Seconds(7_200)

    func run(_ client: LocalClient, _ output: Output) async throws {
        let money = try Money(typed: amount, next: "gotchu-ctl wallet add 20.00")
        let end = ContinuousClock.now + timeout.duration
        var deposit = try await open(money, client)
        if !deposit.status.isFinal { show(deposit, output) }
        while !deposit.status.isFinal, ContinuousClock.now < end {
            // gotchud has no event for a deposit: poll. The time limit ends this.
            try await Task.sleep(for: Self.pause)
            // A failed poll is repeated until the time is over.
            if let newer = try? await client.deposit(deposit.paymentIntentID) { deposit = newer }
        }
        try await finish(deposit, client, output)
    }

    /// Opens the deposit; retries with the same key while the server does not answer.
    private func open(_ money: Money, _ client: LocalClient) async throws -> IntentReply {
        do {
            return try await client.retryingWhileUnavailable { key in
                try await client.openDeposit(NewDeposit(amountCents: money.minorUnits), key: key)
            }
        } catch LocalClientFailure.problem(let problem) where problem.errorCode == .forbidden {
            throw CommandFailure.forbidden(problem.detail.printable, next: DeviceAdvice.spend)
        }
    }

    private func show(_ deposit: IntentReply, _ output: Output) {
        guard let url = deposit.checkoutURL else {
            return output.message("\(deposit.amount) is on its way.")
        }
        if let code = QRCode(url), let picture = code.drawing(on: output.messages) {
            output.message(picture)
        }
        output.message("Pay \(deposit.amount) until \(deposit.expiresAt.value.clockText) at")
        output.message(output.messages.paint(url.printable, .bold))
    }

    private func finish(
        _ deposit: IntentReply,
        _ client: LocalClient,
        _ output: Output
    ) async throws {
        switch deposit.status {
        case .succeeded:
            if output.isJSON { return try output.json(deposit) }
            let balance = try? await client.wallet().available
            output.line("Added \(deposit.amount)" + (balance.map { " · balance \($0)" } ?? ""))
        case .failed, .canceled:
            // The provider's own text; may be empty.
            let reason = deposit.lastError?.message.printable ?? ""
            throw CommandFailure.about(
                deposit,
                .negative(
                    "Nothing was added" + (reason.isEmpty ? "." : ": \(reason)"),
                    next: "gotchu-ctl wallet add \(deposit.amount.decimalText)"
                )
            )
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            throw CommandFailure.about(
                deposit,
                .tryAgain(
                    "The deposit is not paid yet. Its page stays open.",
                    next: "gotchu-ctl wallet"
                )
            )
        case .processing:
            throw CommandFailure.about(
                deposit,
                .tryAgain("The payment is being confirmed.", next: "gotchu-ctl wallet")
            )
        }
    }
}

extension QRCode {
    /// The quiet zone around the QR code in modules; scanners need it.
    private static let margin = 2

    /// Draws the QR code, with two modules in one character; `nil` if the stream is not a terminal,
    /// or has too little room.
    func drawing(on terminal: Terminal) -> String? {
        guard terminal.isTerminal, let size = terminal.size, size.columns >= side + 2 * Self.margin,
            size.rows > (side + 2 * Self.margin) / 2
        else { return nil }
        let range = -Self.margin..<side + Self.margin
        func isLight(_ column: Int, _ row: Int) -> Bool {
            let isInside = (0..<side).contains(column) && (0..<side).contains(row)
            return !(isInside && isDark(column: column, row: row))
        }
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            // Light modules are drawn, dark ones are blank: most terminals are light on dark.
            range.map { column in
                switch (isLight(column, row), isLight(column, row + 1)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
        }.joined(separator: "\n")
    }
}
