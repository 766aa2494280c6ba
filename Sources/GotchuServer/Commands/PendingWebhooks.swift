internal import ArgumentParser

/// `gotchu-server webhooks pending`.
struct PendingWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "Lists deliveries that have not arrived yet, the next to be tried first.",
        discussion: """
            Example:
              gotchu-server webhooks pending --database sqlite:shop.db
            """
    )

    @OptionGroup var listing: WebhookListing

    func run() async throws { try await listing.show(dead: false) }
}
