internal import ArgumentParser

/// `gotchu-server webhooks dead`.
struct DeadWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Lists deliveries that were given up, of the oldest sessions first.",
        discussion: """
            Example:
              gotchu-server webhooks dead --database sqlite:shop.db
            """
    )

    @OptionGroup var listing: WebhookListing

    func run() async throws { try await listing.show(dead: true) }
}
