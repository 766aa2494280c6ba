internal import ArgumentParser

/// `gotchu-server webhooks`: the endpoints that receive sessions' events.
struct Webhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manages the endpoints that receive sessions' events.",
        discussion: """
            Examples:
              gotchu-server webhooks add https://shop.example/hooks --database sqlite:shop.db
              gotchu-server webhooks list --database sqlite:shop.db
              gotchu-server webhooks resend --database sqlite:shop.db

            Messages are signed as Standard Webhooks asks and arrive at least once; one that does \
            not arrive is tried again for a day. All of this works while the server runs.
            """,
        subcommands: [
            AddWebhook.self, ListWebhooks.self, RemoveWebhook.self, PendingWebhooks.self,
            DeadWebhooks.self, ResendWebhooks.self,
        ]
    )
}
