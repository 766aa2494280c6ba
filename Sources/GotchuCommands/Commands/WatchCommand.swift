import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl watch`: everything that happens, as it happens.
struct WatchCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show everything that happens, as it happens.",
        discussion: """
            EXAMPLES:
              gotchu-ctl watch
              gotchu-ctl watch --json-lines | grep '"event":"payment"'

            --> was heard on the air, <-- is a request or a payment, --- is the daemon itself. \
            Goes on when the daemon restarts, until Ctrl-C. With --json: everything as it is now, \
            once.
            """
    )

    @OptionGroup var options: CommonOptions

    @Flag(help: "Print one JSON object on a line for each event.")
    var jsonLines = false

    func validate() throws {
        guard !(options.json && jsonLines) else {
            throw ValidationError("--json is one object and --json-lines is a stream: choose one.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        let follower = EventFollower(client: client, output: output, needsEverything: false)
        _ = try await race {
            try await follower.follow { event -> Bool? in
                if options.json {
                    guard case .snapshot(let snapshot) = event else { return nil }
                    try output.json(snapshot)
                    return true
                }
                if jsonLines {
                    try output.jsonLine(event)
                } else {
                    event.lines(at: .now, on: output.data).forEach { output.line($0) }
                }
                return nil
            }
        }
    }
}
