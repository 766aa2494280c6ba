internal import ServiceProcess

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
