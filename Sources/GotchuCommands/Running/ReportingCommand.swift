import ArgumentParser

/// A command whose failures are reported as a `Diagnosis`.
protocol ReportingCommand: AsyncParsableCommand, Sendable {
    var isJSON: Bool { get }
    /// The socket of the daemon, if the command calls one.
    var socketPath: String { get }
}
