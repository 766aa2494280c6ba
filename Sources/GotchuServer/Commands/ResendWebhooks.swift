internal import ArgumentParser
internal import GotchuCore
internal import Ledger
internal import Outbox
internal import ServiceProcess

/// `gotchu-server webhooks resend`.
struct ResendWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Tries dead deliveries again, for another day.",
        discussion: """
            Examples:
              gotchu-server webhooks resend --database sqlite:shop.db
              gotchu-server webhooks resend evt_0198f3c1_3 --database sqlite:shop.db

            An endpoint that said 410 is taken up again with it.
            """
    )

    @Argument(help: "One event, as 'dead' prints it; all of them unless given.")
    var event: String?

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let count = try await Outbox(database.store).resend(event: event, at: .now)
        guard count > 0 || event == nil else {
            throw ServerFailure(
                .negative,
                "No event with that id was given up.",
                fix: "gotchu-server webhooks dead"
            )
        }
        Console.output("\(count) to be sent again.")
    }
}
