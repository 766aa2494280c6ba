internal import ServiceProcess

/// A failure that stops the program, with an exit status for scripts.
struct ServerFailure: Error, Sendable {
    let exitCode: ExitStatus
    /// The message for people.
    let message: String
    /// The advice on how to fix it; `nil` if there is none.
    let fix: String?

    init(_ exitCode: ExitStatus, _ message: String, fix: String? = nil) {
        self.exitCode = exitCode
        self.message = message
        self.fix = fix
    }
}
