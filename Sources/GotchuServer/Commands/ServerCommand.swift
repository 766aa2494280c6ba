package import ArgumentParser
internal import GotchuAPI
internal import ServiceProcess

/// `gotchu-server`: the payment server of one shop or many.
package struct ServerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "gotchu-server",
        abstract: "Keeps wallets and sessions, and moves money between them.",
        discussion: """
            Examples:
              gotchu-server --listen 127.0.0.1:8080 --database sqlite:shop.db --dev
              gotchu-server verify --database sqlite:shop.db
              gotchu-server serve --database postgres://gotchu@db.example/gotchu
              gotchu-server backup shop-monday.db --database sqlite:shop.db
            """,
        version: GotchuVersion.current,
        subcommands: [
            Serve.self, Verify.self, Migrate.self, Backup.self, Devices.self, Webhooks.self,
            PrintDescription.self,
        ],
        defaultSubcommand: Serve.self
    )

    package init() {}

    package static func main() async {
        StandardStreams.guardAll()
        await main(nil)
    }
}
