/// The exit statuses of the programs, with the numbers of sysexits(3). Scripts and unit files rely
/// on them.
package enum ExitStatus: Int32, CaseIterable, Encodable, Sendable {
    case done = 0
    /// A valid negative answer: refused, not ready, or the books do not balance.
    case negative = 1
    case usage = 64
    case badData = 65
    /// A resource is missing, or another process holds it.
    case unavailable = 69
    case bug = 70
    case inputOutput = 74
    case tryAgain = 75
    /// The other side uses another version of the API.
    case apiMismatch = 76
    case notPermitted = 77
    case configuration = 78
    /// The program was ended by SIGINT. The number is the one that shells report for it.
    case interrupted = 130
}
