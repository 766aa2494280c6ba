import ArgumentParser
import Glibc
import LocalAPI

/// The options of every command.
struct CommonOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Where gotchud listens, instead of $GOTCHU_SOCKET or \(SocketPath.system).",
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

    /// The service's socket, where nothing says otherwise; an ordinary user's own daemon's where
    /// that alone is there.
    var socketPath: String {
        if let named = socket ?? Environment["GOTCHU_SOCKET"] { return named }
        let personal = SocketPath.personal(runtimeFolder: Environment["XDG_RUNTIME_DIR"])
        guard let personal, access(SocketPath.system, F_OK) != 0, access(personal, F_OK) == 0 else {
            return SocketPath.system
        }
        return personal
    }
}
