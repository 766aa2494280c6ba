import Glibc
import GotchuAPI
import LocalAPI
import ServiceProcess

/// What a person, or a script, is told about a failure.
struct Diagnosis: Encodable {
    /// Stable: a problem's code, or ours in the same form.
    let code: String
    /// One sentence.
    let detail: String
    /// The command to run next.
    private(set) var fix: String
    let status: ExitStatus
    /// What it is about, if that is known; for those who read JSON.
    private(set) var subject: (any Encodable & Sendable)?

    /// The one place where a failure becomes a sentence and an exit code.
    init(_ failure: CommandFailure, invocation: Invocation) {
        switch failure {
        case .client(let failure):
            self.init(failure, invocation: invocation)
        case .usage(let sentence, let next):
            self.init("USAGE", sentence, fix: next, .usage)
        case .badData(let sentence, let next):
            self.init("BAD_DATA", sentence, fix: next, .badData)
        case .negative(let sentence, let next):
            self.init("NEGATIVE", sentence, fix: next, .negative)
        case .tryAgain(let sentence, let next):
            self.init("NOT_IN_TIME", sentence, fix: next, .tryAgain)
        case .inputOutput(let sentence, let next):
            self.init("INPUT_OUTPUT", sentence, fix: next, .inputOutput)
        case .about(let subject, let failure):
            self.init(failure, invocation: invocation)
            self.subject = subject
        case .bug(let what):
            self.init("BUG", "This is a bug in gotchu-ctl: \(what)", fix: Self.doctor, .bug)
        }
        fix = invocation.onSameSocket(fix)
    }

    private init(_ failure: LocalClientFailure, invocation: Invocation) {
        switch failure {
        case .noSocket(let path):
            self.init(
                "NO_SOCKET",
                "gotchud is not running: there is no socket at \(path).",
                fix: invocation.startCommand,
                .unavailable
            )
        case .refused(let path) where !path.isSocket:
            self.init(
                "NO_SOCKET",
                "gotchud is not running: what is at \(path) is not a socket.",
                fix: "ls -ld \(path.shellQuoted)",
                .unavailable
            )
        case .refused(let path):
            self.init(
                "REFUSED",
                "gotchud is not running: nobody listens on the socket at \(path).",
                fix: invocation.restartCommand,
                .unavailable
            )
        case .connectionLost:
            self.init(
                "CONNECTION_LOST",
                "gotchud stopped before it had answered.",
                fix: invocation.journalCommand,
                .unavailable
            )
        case .permissionDenied(let path):
            self.init(
                "PERMISSION_DENIED",
                "User \(getuid()) may not open the socket at \(path).",
                fix: "sudo \(invocation.commandLine)",
                .notPermitted
            )
        case .pathTooLong(let path):
            self.init(
                "PATH_TOO_LONG",
                "A socket's path has at most 107 bytes: \(path)",
                fix: "Choose a shorter path for --socket or GOTCHU_SOCKET.",
                .configuration
            )
        case .timedOut(let limit):
            self.init(
                "TIMED_OUT",
                "gotchud did not answer within \(limit.wholeSecondsText).",
                fix: invocation.journalCommand,
                .tryAgain
            )
        case .apiMismatch(let theirs?):
            self.init(
                "API_MISMATCH",
                "gotchud speaks version \(theirs) of its socket's contract, and gotchu-ctl "
                    + "\(GotchuVersion.current) speaks \(LocalAPIVersion.current).",
                fix: invocation.restartCommand,
                .apiMismatch
            )
        case .apiMismatch(nil):
            self.init(
                "API_MISMATCH",
                "What listens on \(invocation.socketPath) is not gotchud.",
                fix: "sudo ss -xlp src \(invocation.socketPath)",
                .apiMismatch
            )
        case .unreadableReply:
            self.init(
                "UNREADABLE_REPLY",
                "What listens on \(invocation.socketPath) answered what gotchu-ctl cannot read.",
                fix: "sudo ss -xlp src \(invocation.socketPath)",
                .apiMismatch
            )
        case .system(let underlying):
            self.init(
                "SYSTEM",
                "The socket at \(invocation.socketPath) failed (\(underlying)).",
                fix: Self.doctor,
                .inputOutput
            )
        case .problem(let problem):
            self.init(problem, invocation: invocation)
        }
    }

    private init(_ problem: Problem, invocation: Invocation) {
        let usual =
            switch problem.errorCode {
            case .notPermitted: "sudo \(invocation.commandLine)"
            case .validationError, .contentTooLarge: invocation.helpCommand
            default: problem.errorCode?.usualFix ?? Self.doctor  // SAFETY: the others' own words.
            }
        let fix = problem.fix ?? usual
        self.init(
            problem.code,
            problem.detail.printable,
            fix: fix.printable,
            problem.errorCode?.exitStatus ?? (problem.status < 500 ? .negative : .tryAgain)
        )
    }

    private init(_ code: String, _ detail: String, fix: String, _ status: ExitStatus) {
        self.code = code
        self.detail = detail
        self.fix = fix
        self.status = status
    }

    private static let doctor = "gotchu-ctl doctor"

    private enum CodingKeys: String, CodingKey {
        case code, detail, fix
        case exitCode = "exit_code"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(detail, forKey: .detail)
        try container.encode(fix, forKey: .fix)
        try container.encode(status.rawValue, forKey: .exitCode)
    }
}
