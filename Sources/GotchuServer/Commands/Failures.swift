internal import ArgumentParser
internal import Glibc
internal import Ledger
internal import NIOCore
internal import ServiceProcess

/// Turns whatever stopped a command into sentences and an exit code. The one place that does.
enum Failures {
    static func reported(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let exit as ExitCode {
            throw exit
        } catch {
            let failure = failure(for: error)
            Console.error("gotchu-server: \(failure.message)")
            if let fix = failure.fix { Console.error(fix) }
            throw ExitCode(failure.exitCode.rawValue)
        }
    }

    private static func failure(for error: any Error) -> ServerFailure {
        switch error {
        case let failure as ServerFailure:
            failure
        case let error as LedgerError:
            ServerFailure(exitStatus(for: error.code), "\(error)", fix: error.fix)
        case let error as IOError where error.errnoCode == EADDRINUSE:
            ServerFailure(
                .unavailable,
                "Another program listens at this address already.",
                fix: "Stop it, or name another port with --listen."
            )
        case let error as IOError where error.errnoCode == EACCES:
            ServerFailure(
                .configuration,
                "This user may not listen at this address.",
                fix: "Name a port above 1023 with --listen."
            )
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            ServerFailure(
                .configuration,
                "This machine does not have the address to listen at.",
                fix: "Name one of its own with --listen."
            )
        case is SocketAddressError.UnknownHost:
            ServerFailure(
                .configuration,
                "The address to listen at is not known here.",
                fix: "Name one that this machine has with --listen."
            )
        default:
            ServerFailure(.software, "Something unexpected happened: \(error)")
        }
    }

    private static func exitStatus(for code: LedgerError.Code) -> ExitStatus {
        switch code {
        case .tryAgain, .unknownOutcome: .tryAgain
        case .rejected: .software
        case .cannotOpen: .inputOutput
        case .foreign, .corrupt: .data
        case .inUse: .unavailable
        case .notDurable: .configuration
        }
    }
}
