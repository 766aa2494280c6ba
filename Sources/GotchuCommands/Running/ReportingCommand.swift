import ArgumentParser

/// A command whose failures are reported as a `Diagnosis`.
protocol ReportingCommand: AsyncParsableCommand, Sendable {
    var options: CommonOptions { get }
    /// The socket of the daemon, if the command calls one.
    var socketPath: String { get }
}

extension ReportingCommand {
    var socketPath: String { options.socketPath }

    var invocation: Invocation {
        Invocation(
            socketPath: socketPath,
            arguments: CommandLine.arguments,
            command: GotchuCtl.name(of: Self.self)
        )
    }
}
