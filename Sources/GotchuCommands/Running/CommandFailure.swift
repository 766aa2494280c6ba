import ArgumentParser
import LocalAPI

/// The reason why a command failed. Sentences are complete; `next` is a command to run.
enum CommandFailure: Error {
    /// The daemon could not be asked, or refused.
    case client(LocalClientFailure)
    /// The command line makes no sense as a whole.
    case usage(String, next: String)
    /// An amount, an id or a file's contents have the wrong form.
    case badData(String, next: String)
    /// A valid answer that is not the hoped-for one.
    case negative(String, next: String)
    /// Not in time; it may still happen.
    case tryAgain(String, next: String)
    /// A file or a device failed.
    case inputOutput(String, next: String)
    /// Something that never happens, happened.
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
