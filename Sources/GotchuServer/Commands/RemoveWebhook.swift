internal import ArgumentParser
internal import Ledger
internal import Outbox
internal import ServiceProcess

/// `gotchu-server webhooks remove`.
struct RemoveWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes an endpoint with everything that waits for it.",
        discussion: """
            Example:
              gotchu-server webhooks remove whe_0198f3c1-7a5e-7c1e-9d53-0242ac120002 \
            --database sqlite:shop.db

            A removal that was cut short is shown by 'list', and finished by this command.
            """
    )

    @Argument(help: "The endpoint's id, as 'list' prints it.")
    var id: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard try await Outbox(database.store).remove(id) else {
            throw ServerFailure(
                .negative,
                "There is no such endpoint.",
                fix: "gotchu-server webhooks list"
            )
        }
        Console.output("Removed.")
    }
}
