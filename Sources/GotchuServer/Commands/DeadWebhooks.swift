internal import ArgumentParser
internal import Ledger
internal import ServiceProcess

/// `gotchu-server webhooks dead`.
struct DeadWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Lists what was given up, the oldest first.",
        discussion: """
            Example:
              gotchu-server webhooks dead --database sqlite:shop.db
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
            let entries = try await database.books.webhookBacklog(dead: true, limit: limit)
            for entry in entries { Console.output(entry.line) }
        }
    }
}
