import ArgumentParser
import Glibc
import LocalAPI

/// The options that all commands have.
struct CommonOptions: ParsableArguments, Sendable {
    @Option(
        help: .value(
            "path",
            "The socket of gotchud, instead of $GOTCHU_SOCKET or \(SocketPath.system)."
        ),
        completion: .file()
    )
    var socket: String?

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func validate() throws {
        guard socket?.isEmpty != true else { throw ValidationError("--socket needs a path.") }
    }

    /// The socket's path: that of the option, else of the environment. If neither is set, it is the
    /// service's socket, or the user's own daemon's if only that exists.
    var socketPath: String {
        if let named = socket ?? Environment["GOTCHU_SOCKET"] { return named }
        let personal = SocketPath.personal(runtimeFolder: Environment["XDG_RUNTIME_DIR"])
        guard let personal, access(SocketPath.system, F_OK) != 0, access(personal, F_OK) == 0 else {
            return SocketPath.system
        }
        return personal
    }
}

extension ArgumentHelp {
    /// Returns the help of an option, with a name for its value.
    static func value(_ name: String, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name)
    }
}
