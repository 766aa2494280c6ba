import ArgumentParser
import LocalAPI

/// What every command understands.
struct CommonOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Where gotchud listens, instead of $GOTCHU_SOCKET or \(LocalClient.defaultSocketPath).",
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func validate() throws {
        guard socket?.isEmpty != true else { throw ValidationError("--socket needs a path.") }
    }

    var socketPath: String {
        socket ?? Environment["GOTCHU_SOCKET"] ?? LocalClient.defaultSocketPath
    }
}
