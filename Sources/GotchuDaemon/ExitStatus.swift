import ArgumentParser
import LocalAPI
import Radio
import ServiceProcess

/// The exit codes of gotchud (sysexits.h); its unit does not restart it after 64 and 78.
enum ExitStatus: Int32 {
    case unavailable = 69
    case software = 70
    case inputOutput = 74
    case tryAgain = 75
    case configuration = 78

    /// Says on standard error what is wrong and what to do next.
    static func exit(_ status: ExitStatus, _ sentence: String, next: String) -> ExitCode {
        Console.error("gotchud: \(sentence)\n\(next)")
        return ExitCode(status.rawValue)
    }

    static func orExit<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as ConfigurationError {
            throw exit(
                .configuration,
                "\(error.place): \(error.problem)",
                next: "Correct it and run: gotchud --check-config"
            )
        } catch {
            throw exit(for: error)
        }
    }

    static func takeLock(_ socketPath: String) throws -> SocketLock {
        do throws(SocketLock.Failure) {
            return try SocketLock(socketPath: socketPath)
        } catch {
            switch error {
            case .inUse:
                throw exit(
                    .unavailable,
                    "Another gotchud serves \(socketPath).",
                    next: "Stop it (systemctl stop gotchud), or choose another with --socket."
                )
            case .occupied:
                throw exit(
                    .inputOutput,
                    "The socket \(socketPath) cannot be made: something else stands there.",
                    next: "Move that away, or choose another path with --socket."
                )
            case .unusable(let reason):
                throw exit(
                    .inputOutput,
                    "The socket \(socketPath) cannot be made: \(reason).",
                    next: "Make its folder, or choose another with --socket."
                )
            }
        }
    }

    /// What an error that ended the daemon means.
    static func exit(for error: any Error) -> ExitCode {
        if let failure = error as? RadioFailure {
            return exit(.inputOutput, failure.sentence, next: failure.fix)
        }
        return exit(
            .software,
            "A part of the daemon failed: \(error).",
            next: "journalctl -u gotchud -n 50"
        )
    }
}
