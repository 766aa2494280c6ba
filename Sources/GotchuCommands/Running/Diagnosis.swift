import ServiceProcess

/// A failure as shown to a person or a script.
struct Diagnosis: Encodable {
    /// The stable code: a problem's code, or one of `gotchu-ctl` in the same format.
    let code: String
    /// The failure in one sentence.
    let detail: String
    /// The command to run next.
    private(set) var fix: String
    let status: ExitStatus
    /// The object that the failure concerns, if any. Only JSON shows it.
    private(set) var subject: (any Encodable & Sendable)?

    /// Converts a failure to a sentence and an exit status; the only place that does so.
    init(_ failure: CommandFailure, invocation: Invocation) {
        switch failure {
        case .client(let failure):
            let (code, status) = failure.codeAndStatus
            let fix = failure.nextCommand(invocation) ?? Self.doctor
            self.init(code, failure.sentence(invocation), fix: fix, status)
        case .usage(let sentence, let next):
            self.init("USAGE", sentence, fix: next, .usage)
        case .badData(let sentence, let next):
            self.init("BAD_DATA", sentence, fix: next, .badData)
        case .negative(let sentence, let next):
            self.init("NEGATIVE", sentence, fix: next, .negative)
        case .forbidden(let sentence, let next):
            self.init("FORBIDDEN", sentence, fix: next, .notPermitted)
        case .tryAgain(let sentence, let next):
            self.init("NOT_IN_TIME", sentence, fix: next, .tryAgain)
        case .inputOutput(let sentence, let next):
            self.init("INPUT_OUTPUT", sentence, fix: next, .inputOutput)
        case .configuration(let sentence, let next):
            self.init("CONFIGURATION", sentence, fix: next, .configuration)
        case .about(let subject, let failure):
            self.init(failure, invocation: invocation)
            self.subject = subject
        case .bug(let what):
            self.init("BUG", "This is a bug in gotchu-ctl: \(what)", fix: Self.doctor, .bug)
        }
        fix = invocation.onSameSocket(fix)
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
        case status = "exit_code"
    }
}
