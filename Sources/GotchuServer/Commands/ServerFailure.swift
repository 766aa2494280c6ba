/// Why the program stops, with the exit code that a script sees.
struct ServerFailure: Error, Sendable {
    let exitCode: ExitStatus
    /// Sentences for a person.
    let message: String
    /// What to do about it.
    let fix: String?

    init(_ exitCode: ExitStatus, _ message: String, fix: String? = nil) {
        self.exitCode = exitCode
        self.message = message
        self.fix = fix
    }
}

/// Exit codes, by the names of sysexits(3).
enum ExitStatus: Int32, Sendable {
    /// A valid negative answer: the books do not balance.
    case negative = 1
    case usage = 64
    case data = 65
    case unavailable = 69
    case software = 70
    case inputOutput = 74
    case tryAgain = 75
    case configuration = 78
}
