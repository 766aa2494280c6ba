import ArgumentParser
import LocalAPI

/// The reason why a command failed. Sentences are complete; `next` is a command to run.
enum CommandFailure: Error {
    /// The daemon could not be reached, or refused.
    case client(LocalClientFailure)
    /// The command line contradicts itself.
    case usage(String, next: String)
    /// An amount, an id or a file's contents have the wrong form.
    case badData(String, next: String)
    /// A valid answer other than the desired one.
    case negative(String, next: String)
    /// The time was too short; it may still happen.
    case tryAgain(String, next: String)
    /// A file or a device failed.
    case inputOutput(String, next: String)
    /// A state that is impossible without a bug.
    case bug(String)
    /// A failure with the object that it concerns: in JSON both are one object.
    indirect case about(any Encodable & Sendable, CommandFailure)

    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let failure as LocalClientFailure: self = .client(failure)
        default: self = .bug(String(describing: error))
        }
    }
}
