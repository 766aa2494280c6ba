import FoundationEssentials
import GotchuAPI
import GotchuCore
import Subprocess
import SystemPackage

/// The operator's program, run for each settlement.
struct Hook: Sendable {
    /// The time between SIGTERM and SIGKILL.
    private static let grace: Duration = .seconds(5)

    let program: String
    /// The timeout of a run.
    var limit: Duration = .seconds(60)

    /// Runs the program to its end, with the event on its standard input.
    ///
    /// - Returns: The reason of the failure; `nil` if it exited with 0.
    /// - Throws: `CancellationError` if the task is cancelled. The program has ended by then.
    func run(_ settlement: Settlement) async throws -> String? {
        var options = PlatformOptions()
        // A process group of its own: Ctrl-C reaches only this process. The teardown signals the
        // whole group, with the program's own children.
        options.processGroupID = 0
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.grace)
        ]
        do {
            let line = CanonicalJSON.bytes(of: settlement.event) + [UInt8(ascii: "\n")]
            let event = try FileDescriptor.inMemory(line)
            let result = try await withTimeout(limit) { [options] in
                try await Subprocess.run(
                    .path(FilePath(program)),
                    environment: .inherit.updating(["GOTCHU_EVENT": settlement.kind.rawValue]),
                    platformOptions: options,
                    input: .fileDescriptor(event, closeAfterSpawningProcess: true),
                    output: .currentStandardOutput,
                    error: .currentStandardError
                )
            }
            try Task.checkCancellation()
            switch result.terminationStatus {
            case .exited(0): return nil
            case .exited(let code): return "\(program.printable) ended with \(code)."
            case .signaled(let signal): return "\(program.printable) was ended by signal \(signal)."
            }
        } catch is TimedOut {
            return "\(program.printable) was ended: it took more than \(limit.wholeSecondsText)."
        } catch {
            try Task.checkCancellation()
            return "\(program.printable) cannot be run: \("\(error)".printable)"
        }
    }
}
