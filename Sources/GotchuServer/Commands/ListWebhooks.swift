internal import ArgumentParser
internal import Ledger
internal import Outbox
internal import ServiceProcess

/// `gotchu-server webhooks list`.
struct ListWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the endpoints: id, URL, payee, waiting and dead deliveries, state.",
        discussion: """
            Example:
              gotchu-server webhooks list --database sqlite:shop.db
            """
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        for endpoint in try await Outbox(database.store).endpoints() {
            let state =
                endpoint.isBeingRemoved
                ? "being removed; if that was cut short, 'remove' it again"
                : endpoint.disabled.map { "disabled: \($0)" } ?? "ok"
            let fields = [
                endpoint.id, endpoint.url, endpoint.owner?.rawValue ?? "everybody",
                "\(endpoint.pendingCount) pending", "\(endpoint.deadCount) dead",
                state,
            ]
            Console.output(fields.joined(separator: "\t"))
        }
    }
}
