import ArgumentParser
import GotchuAPI
import LocalAPI

/// `gotchu-ctl login`: gives the daemon a token or a device's code.
struct LoginCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log the daemon in at the payment server.",
        discussion: """
            EXAMPLES:
              gotchu-ctl login < token.txt
              gotchu-ctl login --token-file code
              gotchu-ctl login --dev-email shop@example.com

            It takes a token, or the code that gotchu-server devices add has printed: with that \
            the daemon gets its tokens by itself from then on.

            The token is read from standard input, without echo on a terminal, or from a file. It \
            is never an argument: those are visible to everybody on the machine.
            """
    )

    @OptionGroup var options: CommonOptions

    @Option(help: .value("path", "Read the token from this file."), completion: .file())
    var tokenFile: String?

    @Option(help: .value("address", "Ask a development server for a token."))
    var devEmail: String?

    func validate() throws {
        guard tokenFile == nil || devEmail == nil else {
            throw ValidationError("--token-file and --dev-email exclude each other.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        let login =
            if let devEmail {
                LocalLogin(devEmail: devEmail)
            } else {
                LocalLogin(token: try TokenSource(file: tokenFile).read(output))
            }
        let status = try await client.login(login)
        guard !output.isJSON else { return try output.json(status) }
        output.line("Logged in at \(status.server.url.printable)")
        output.message("Undo: gotchu-ctl logout")
    }
}
