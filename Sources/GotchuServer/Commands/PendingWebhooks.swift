internal import ArgumentParser
internal import Ledger
internal import ServiceProcess

/// `gotchu-server webhooks pending`.
struct PendingWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "Lists what has not arrived yet, the oldest first.",
        discussion: """
            Example:
              gotchu-server webhooks pending --database sqlite:shop.db
            """
    )

    @Option(help: "How many at most.")
    var limit = 100

    @OptionGroup var database: DatabaseOption

    func validate() throws {
        guard (1...100_000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 100000")
        }
    }

    func run() async throws {
        try await Failures.reported {
            let entries = try await database.books.webhookBacklog(dead: false, limit: limit)
            for entry in entries { Console.output(entry.line) }
        }
    }
}
