internal import ArgumentParser
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import Outbox
internal import ServiceProcess

/// `gotchu-server webhooks add`.
struct AddWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds an endpoint and prints its secret, this once.",
        discussion: """
            Example:
              gotchu-server webhooks add https://shop.example/hooks --database sqlite:shop.db
            """
    )

    @Argument(help: "The URL to post to: https, on the public Internet.")
    var url: String

    @Option(help: "Only this payee's sessions, named as in devices add; else everybody's.")
    var payee: String?

    @Flag(help: "Let the endpoint be on this machine, and without TLS.")
    var dev = false

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let url = try checked()
        let store = try database.store
        let owner: User? = if let payee { try await store.user(payee) } else { nil }
        let endpoint = WebhookEndpoint(
            id: "whe_\(RecordID.make())",
            url: url.text,
            owner: owner?.id,
            createdAt: .now
        )
        let secret = WebhookSecret.random()
        do {
            try await Outbox(store).add(endpoint, secret: secret.bytes)
        } catch let error as LedgerError where error.code == .rejected {
            throw ServerFailure(
                .negative,
                "There are \(WebhookEndpoint.limit) endpoints already.",
                fix: "gotchu-server webhooks list"
            )
        }
        Console.output("endpoint\t\(endpoint.id)")
        Console.output("url\t\(endpoint.url)")
        Console.output("secret\t\(secret.text)")
    }

    /// Checks the URL as every delivery does, so that a mistake is reported at once.
    private func checked() throws -> WebhookURL {
        guard let parsed = WebhookURL(url) else {
            throw ServerFailure(
                .usage,
                "The URL cannot be read.",
                fix: "Write it as https://HOST/PATH."
            )
        }
        do throws(WebhookTarget.Refusal) {
            let addresses = NetworkAddress.all(of: parsed.host)
            _ = try WebhookTarget(parsed, isDevelopment: dev, addresses: addresses)
        } catch {
            throw ServerFailure(
                .configuration,
                error.sentence,
                fix: "Name an https URL that everybody can reach; to develop, --dev and 127.0.0.1."
            )
        }
        return parsed
    }
}
