import ArgumentParser
import LocalAPI
import ServiceProcess

/// The reason why a command failed. Texts are whole sentences; `next` is a command to run.
enum CommandFailure: Error {
    /// The daemon could not be reached, or refused the call.
    case client(LocalClientFailure)
    /// The options contradict each other, or the value of one is not allowed.
    case usage(String, next: String)
    /// An amount, an id, a text or a file has the wrong format, or is not accepted.
    case badData(String, next: String)
    /// A valid answer other than the desired one.
    case negative(String, next: String)
    /// The login may not do this.
    case forbidden(String, next: String)
    /// No definite result yet: a later attempt may succeed.
    case tryAgain(String, next: String)
    /// A file or a device error.
    case inputOutput(String, next: String)
    /// A setting of this process or machine cannot be used.
    case configuration(String, next: String)
    /// An impossible state: a bug.
    case bug(String)
    /// A failure with the object that it concerns; in JSON both are one object.
    indirect case about(any Encodable & Sendable, CommandFailure)

    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let failure as LocalClientFailure: self = .client(failure)
        case let failure as LocalTimeZoneFailure:
            self = .configuration(failure.sentence, next: failure.fix)
        default: self = .bug(String(describing: error))
        }
    }
}
