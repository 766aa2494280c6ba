import ArgumentParser
import GotchuAPI
import LocalAPI
import Synchronization

/// A command that calls the daemon and renders its replies.
protocol SocketCommand: ReportingCommand {
    /// Runs the command. Throws `CommandFailure`, `LocalClientFailure`, or `ExitCode` if everything
    /// is already printed.
    func run(_ client: LocalClient, _ output: Output) async throws
}

extension SocketCommand {
    func run() async throws {
        let output = Output(isJSON: options.json)
        let isSkewTold = Mutex(false)
        let client = LocalClient(socketPath: options.socketPath) { version in
            guard version != GotchuVersion.current,
                isSkewTold.withLock({ told in (told, told = true).0 == false })
            else { return }
            output.message(
                "Note: gotchud is \(version.printable) and gotchu-ctl is \(GotchuVersion.current)."
            )
        }
        try await run(client, output)
    }
}
