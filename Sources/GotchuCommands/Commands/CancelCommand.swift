import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl cancel`: cancels an open request, or a payment that was not sent yet.
struct CancelCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a request, or a payment that was not sent yet.",
        discussion: """
            EXAMPLES:
              gotchu-ctl cancel 0198f3c1-7a5e-7c1e-9d53-0242ac120002
              gotchu-ctl cancel a1b2c3d4e5
              gotchu-ctl history

            Does nothing for one that is cancelled already. Exits with 1 if it was paid before, \
            or may have been: then 'history' tells how it ends.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The request's id or EID, or the payment's id, as 'history' prints it.")
    var id: String

    func run(_ client: LocalClient, _ output: Output) async throws {
        guard let given = SessionID(rawValue: id) else {
            throw CommandFailure.badData(
                "'\(id.printable)' is not a request's or payment's id.",
                next: "gotchu-ctl history"
            )
        }
        let (requests, payments) = try await client.visibleRecords()
        if let payment = payments?.first(where: { $0.id == id }) {
            return try report(try await client.cancelPayment(payment.id), output)
        }
        let request = requests?.first { $0.matches(id) }
        try await cancel(request?.id ?? given, client, output)
    }

    private func report(_ payment: PaymentView, _ output: Output) throws {
        guard payment.state == .declined else {
            let failure = CommandFailure.negative(
                "The payment was made before it could be cancelled.",
                next: "gotchu-ctl history"
            )
            throw CommandFailure.about(payment, failure)
        }
        guard !output.isJSON else { return try output.json(payment) }
        output.line("Cancelled · nobody was charged")
    }

    private func cancel(
        _ id: SessionID,
        _ client: LocalClient,
        _ output: Output
    ) async throws {
        let request = try await client.cancelRequest(id)
        switch request.state {
        case .cancelled, .expired:
            guard !output.isJSON else { return try output.json(request) }
            output.line(request.unpaidText(on: output.data))
        case .paid:
            let failure = CommandFailure.negative(
                "The request was paid before it could be cancelled.",
                next: "gotchu-ctl history"
            )
            throw CommandFailure.about(request, failure)
        case .advertising, .locked, .unknown:
            let failure = CommandFailure.tryAgain(
                "The request is not cancelled: \(request.reason.printable)",
                next: "gotchu-ctl cancel \(id)"
            )
            throw CommandFailure.about(request, failure)
        }
    }
}
