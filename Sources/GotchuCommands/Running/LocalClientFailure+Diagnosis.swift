import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

extension LocalClientFailure {
    var codeAndStatus: (String, ExitStatus) {
        switch self {
        case .noSocket: ("NO_SOCKET", .unavailable)
        case .refused(let path) where !path.isSocket: ("NO_SOCKET", .unavailable)
        case .refused: ("REFUSED", .unavailable)
        case .connectionLost: ("CONNECTION_LOST", .unavailable)
        case .permissionDenied: ("PERMISSION_DENIED", .notPermitted)
        case .foreignListener: ("FOREIGN_LISTENER", .notPermitted)
        case .pathTooLong: ("PATH_TOO_LONG", .configuration)
        case .timedOut: ("TIMED_OUT", .tryAgain)
        case .apiMismatch: ("API_MISMATCH", .apiMismatch)
        case .unreadableReply: ("UNREADABLE_REPLY", .apiMismatch)
        case .system: ("SYSTEM", .inputOutput)
        case .problem(let problem):
            (
                problem.code,
                problem.errorCode?.exitStatus ?? (problem.status < 500 ? .negative : .tryAgain)
            )
        }
    }

    func sentence(_ invocation: Invocation) -> String {
        switch self {
        case .noSocket(let path): "gotchud is not running: there is no socket at \(path)."
        case .refused(let path) where !path.isSocket:
            "gotchud is not running: what is at \(path) is not a socket."
        case .refused(let path):
            "gotchud is not running: nobody listens on the socket at \(path)."
        case .connectionLost: "gotchud stopped before it had answered."
        case .permissionDenied(let path):
            "User \(getuid()) may not open the socket at \(path)."
        case .foreignListener(let path, let userID):
            "What listens at \(path) belongs to user \(userID): not to root, to this user or to "
                + "the owner of its folder. Nothing was sent to it."
        case .pathTooLong(let path): "A socket's path has at most 107 bytes: \(path)"
        case .timedOut(let limit): "gotchud did not answer within \(limit.wholeSecondsText)."
        case .apiMismatch(let theirs?):
            "gotchud speaks version \(theirs) of its socket's contract, and gotchu-ctl "
                + "\(GotchuVersion.current) speaks \(LocalAPIVersion.current)."
        case .apiMismatch(nil): "What listens on \(invocation.socketPath) is not gotchud."
        case .unreadableReply:
            "The program at \(invocation.socketPath) gave an answer that gotchu-ctl cannot read."
        case .system(let underlying):
            "The socket at \(invocation.socketPath) failed (\(underlying))."
        case .problem(let problem): problem.detail.printable + (problem.most ?? "")
        }
    }

    /// Returns the command that shows who listens. A gotchud's socket was bound to a name beside
    /// its path.
    private static func listenerCommand(_ path: String) -> String {
        "sudo ss -xlp src \("\(path)*".shellQuoted)"
    }

    /// The next command to run, if this failure has a specific one.
    func nextCommand(_ invocation: Invocation) -> String? {
        switch self {
        case .noSocket: invocation.startCommand
        case .refused(let path) where !path.isSocket: "ls -ld \(path.shellQuoted)"
        case .refused, .apiMismatch(_?): invocation.restartCommand
        case .connectionLost, .timedOut: invocation.journalCommand
        case .permissionDenied(let path):
            "Join the socket's group, or have your user id listed in gotchud.json. See who has "
                + "access: namei -l \(path.shellQuoted)"
        case .foreignListener(let path, _): Self.listenerCommand(path)
        case .pathTooLong: "Choose a shorter path for --socket or GOTCHU_SOCKET."
        case .apiMismatch(nil), .unreadableReply: Self.listenerCommand(invocation.socketPath)
        case .system: nil
        case .problem(let problem):
            (problem.fix ?? problem.defaultNextCommand(invocation))?.printable
        }
    }
}

extension Problem {
    /// A sentence with the largest deposit allowed now, if the deposit was too large.
    fileprivate var most: String? {
        guard errorCode == .depositLimit, let availableCents else { return nil }
        return " The most is now \(Money(minorUnits: availableCents))."
    }

    fileprivate func defaultNextCommand(_ invocation: Invocation) -> String? {
        switch errorCode {
        case .validationError, .contentTooLarge: invocation.helpCommand
        default: errorCode?.defaultFix  // SAFETY: other codes have their default fix.
        }
    }
}
