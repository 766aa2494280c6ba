/// What the exit code of a program of ours says; scripts and unit files rely on it. The numbers are
/// sysexits(3)'s.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case done = 0
    /// A valid negative answer: declined, not ready, the books do not balance.
    case negative = 1
    case usage = 64
    case badData = 65
    /// What is needed is not there, or somebody else has it.
    case unavailable = 69
    case bug = 70
    case inputOutput = 74
    case tryAgain = 75
    /// The other side speaks another version of the contract.
    case apiMismatch = 76
    case notPermitted = 77
    case configuration = 78
    /// As a shell says it of SIGINT.
    case interrupted = 130
}
