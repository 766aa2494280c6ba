import LocalAPI
import Radio
import ServiceProcess

/// The reason why gotchud does not start or has ended, with the exit code for systemd. After
/// `usage`, `badData` and `configuration`, the unit does not restart gotchud.
struct DaemonFailure: Error {
    let status: ExitStatus
    let sentence: String
    /// The next step for the user.
    let fix: String

    private init(_ status: ExitStatus, _ sentence: String, fix: String) {
        self.status = status
        self.sentence = sentence
        self.fix = fix
    }

    /// Explains an error that ended the daemon.
    init(_ error: any Error) {
        switch error {
        case let failure as DaemonFailure:
            self = failure
        case let error as ConfigurationError:
            self.init(
                .configuration,
                "\(error.place): \(error.problem)",
                fix: "Correct it and run: \(Self.checkCommand)"
            )
        case let failure as LocalTimeZoneFailure:
            self.init(.configuration, failure.sentence, fix: failure.fix)
        case let failure as JournalFailure:
            let status: ExitStatus =
                switch failure {
                case .inUse: .unavailable
                case .system, .removed, .uncertain, .unreadable: .inputOutput
                // A restart does not help. With this code, the unit does not restart gotchud.
                case .corrupt, .foreign: .badData
                }
            self.init(status, failure.sentence, fix: failure.fix)
        case let lost as SocketWatch.Lost:
            self.init(
                .inputOutput,
                "The socket \(lost.path) was removed or replaced while gotchud served it.",
                fix: "Start gotchud again (systemd does), and find the program that removes it."
            )
        case let failure as RadioFailure:
            self.init(.inputOutput, failure.sentence, fix: failure.fix)
        default:
            self.init(
                .bug,
                "A part of the daemon failed: \(error).",
                fix: "journalctl -u gotchud -n 50"
            )
        }
    }

    /// Explains the reason why the state folder cannot be used.
    init(_ failure: StateFolder.Failure) {
        switch failure {
        case .foreign(let path, let userID):
            self.init(
                .configuration,
                "The state folder \(path) belongs to user id \(userID), who could read the token.",
                fix: "Choose another with --state, or give it to this user with chown."
            )
        case .writable(let path):
            self.init(
                .configuration,
                "Others may write to the state folder \(path), and could read the token.",
                fix: "chmod go-w \(path.shellQuoted)"
            )
        }
    }

    /// Explains the reason why the socket cannot be served.
    init(_ failure: SocketLock.Failure, socketPath: String) {
        switch failure {
        case .inUse:
            self.init(
                .unavailable,
                "Another gotchud serves \(socketPath).",
                fix: "Stop it (systemctl stop gotchud), or choose another with --socket."
            )
        case .occupied:
            self.init(
                .inputOutput,
                "The socket \(socketPath) cannot be created: another file is in its place.",
                fix: "Move that file, or choose another path with --socket."
            )
        case .unusable(let reason):
            self.init(
                .inputOutput,
                "The socket \(socketPath) cannot be created: \(reason).",
                fix: "Make its folder, or choose another with --socket."
            )
        }
    }

    /// The command that checks the configuration this process was started with.
    static var checkCommand: String {
        let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--check-config" }
        return (["gotchud"] + arguments + ["--check-config"]).map(\.shellQuoted)
            .joined(separator: " ")
    }
}
