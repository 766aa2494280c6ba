internal import ArgumentParser
internal import Ledger
internal import ServiceProcess

/// Turns a command's failure into a message and an exit status, in one place for all commands.
enum ErrorReporter {
    /// Prints the failure of a command.
    ///
    /// - Returns: The exit status. If the error already is an exit of the argument parser, the
    ///   error itself.
    static func reported(_ error: any Error) -> any Error {
        guard !(error is ExitCode), !(error is CleanExit) else { return error }
        let failure = failure(for: error)
        Console.error("gotchu-server: \(failure.message)")
        if let fix = failure.fix { Console.error(fix) }
        return ExitCode(failure.exitCode.rawValue)
    }

    private static func failure(for error: any Error) -> ServerFailure {
        switch error {
        case let failure as ServerFailure:
            failure
        case let error as ConfigurationError:
            ServerFailure(
                error.isFlag ? .usage : .configuration,
                "\(error.place): \(error.problem)",
                fix: "Correct it, or leave it out."
            )
        case let error as LedgerError:
            ServerFailure(
                exitStatus(for: error.code),
                "\(error)",
                fix: error.fix ?? defaultFix(for: error.code)
            )
        default:
            ServerFailure(.bug, "gotchu-server has a bug: \(error)", fix: bugFix)
        }
    }

    private static let bugFix = "Payments are safe. Report it with the command that you ran."

    /// Returns the advice for an error of the ledger that has none of its own.
    private static func defaultFix(for code: LedgerError.Code) -> String {
        switch code {
        case .unknownOutcome:
            "Look if it was done before you run the command again."
        case .rejected: bugFix
        case .tryAgain, .cannotOpen, .foreign, .corrupt, .inUse, .notDurable:
            "See that the database answers and that its disk has room, then run the command again."
        }
    }

    private static func exitStatus(for code: LedgerError.Code) -> ExitStatus {
        switch code {
        case .tryAgain, .unknownOutcome: .tryAgain
        case .rejected: .bug
        case .cannotOpen: .inputOutput
        case .foreign, .corrupt: .badData
        case .inUse: .unavailable
        case .notDurable: .configuration
        }
    }
}
