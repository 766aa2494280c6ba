internal import ServiceProcess

/// The reason why the program stops, with the exit status for scripts.
struct ServerFailure: Error, Sendable {
    let exitCode: ExitStatus
    /// Sentences for a person.
    let message: String
    /// The action that helps, if there is one.
    let fix: String?

    init(_ exitCode: ExitStatus, _ message: String, fix: String? = nil) {
        self.exitCode = exitCode
        self.message = message
        self.fix = fix
    }
}
