import ArgumentParser
import GotchuAPI
import LocalAPI

/// `gotchu-ctl logout`: makes the daemon forget its token.
struct LogoutCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Make the daemon forget its token.",
        discussion: """
            EXAMPLES:
              gotchu-ctl logout
              gotchu-ctl logout --json

            Payments that were started are still driven to their end.
            """
    )

    @OptionGroup var options: CommonOptions

    func run(_ client: LocalClient, _ output: Output) async throws {
        let status = try await client.logout()
        guard !output.isJSON else { return try output.json(status) }
        output.line("Logged out at \(status.server.url.printable)")
        output.message("Undo: gotchu-ctl login")
    }
}
