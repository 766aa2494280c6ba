import FoundationEssentials
import Glibc
import LocalAPI
import ServiceProcess

/// The call of this process. The next commands shown to a person are adapted to it.
struct Invocation {
    let socketPath: String
    let arguments: [String]
    /// The command's name.
    let command: String?

    /// Returns the advised command. If this process has the option `--socket`, the command gets it
    /// too.
    func onSameSocket(_ advice: String) -> String {
        let isNamed = arguments.contains { $0 == "--socket" || $0.hasPrefix("--socket=") }
        let program = "gotchu-ctl "
        guard isNamed, !advice.contains("--socket"), !advice.hasSuffix("--help"),
            advice.hasPrefix(program) || advice.hasPrefix("sudo " + program)
        else { return advice }
        return advice.replacing(
            program,
            with: program + "--socket \(socketPath.shellQuoted) ",
            maxReplacements: 1
        )
    }

    var helpCommand: String {
        ["gotchu-ctl", command, "--help"].compactMap(\.self).joined(separator: " ")
    }

    var startCommand: String {
        isService ? "sudo systemctl start gotchud" : ownDaemon
    }

    var restartCommand: String {
        isService ? "sudo systemctl restart gotchud" : ownDaemon
    }

    var journalCommand: String {
        isService ? "journalctl -u gotchud -n 20" : "gotchu-ctl doctor"
    }

    /// The command that starts a daemon on this socket, with an absolute path.
    private var ownDaemon: String {
        let folder = socketPath.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath + "/"
        return "gotchud --socket \((folder + socketPath).shellQuoted)"
    }

    /// A Boolean that is true if the socket is the service's, and systemd runs on this machine.
    private var isService: Bool {
        socketPath == SocketPath.system && access("/run/systemd/system", F_OK) == 0
    }
}

extension String {
    /// A Boolean that is true if there is a socket at the path, or stat(2) fails for it.
    var isSocket: Bool {
        var status = stat()
        return stat(self, &status) != 0 || status.st_mode & S_IFMT == S_IFSOCK
    }
}
