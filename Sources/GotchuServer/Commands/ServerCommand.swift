package import ArgumentParser
internal import GotchuAPI
internal import ServiceProcess

/// `gotchu-server`: the payment server of one shop or many.
package struct ServerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "gotchu-server",
        abstract: "The payment server: wallets, sessions and payments.",
        discussion: """
            Examples:
              gotchu-server --listen 127.0.0.1:8080 --database sqlite:shop.db --dev
              gotchu-server verify --database sqlite:shop.db
              gotchu-server serve --database postgres://gotchu@db.example/gotchu
              gotchu-server backup shop-monday.db --database sqlite:shop.db
            """,
        version: GotchuVersion.current,
        subcommands: [
            Serve.self, Verify.self, Reconcile.self, Migrate.self, Backup.self, Devices.self,
            Webhooks.self, Deposits.self, Payouts.self, Payees.self, ContestsCommand.self,
            PrintDescription.self,
        ],
        defaultSubcommand: Serve.self
    )

    package init() {}

    package static func main() async {
        StandardStreams.guardAll()
        if let option = repeatedOption(in: CommandLine.arguments.dropFirst()) {
            exit(withError: ValidationError("\(option) is given twice."))
        }
        do {
            var command = try parseAsRoot()
            guard var asynchronous = command as? any AsyncParsableCommand else {
                return try command.run()
            }
            do { try await asynchronous.run() } catch { throw ErrorReporter.reported(error) }
        } catch {
            exit(withError: error)
        }
    }

    private static let repeatable: Set<Substring> = ["--trusted-proxy", "--seal"]

    /// Returns an option that is given twice; `nil` if there is none. The parser would use the last
    /// value and silently ignore the first, for example one of two databases.
    static func repeatedOption(in arguments: some Sequence<String>) -> String? {
        var given: Set<Substring> = []
        for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
            let name = argument.prefix { $0 != "=" }
            guard repeatable.contains(name) || given.insert(name).inserted else {
                return String(name)
            }
        }
        return nil
    }
}
