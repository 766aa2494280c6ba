import ArgumentParser

/// A command whose failures are told in our way.
protocol ReportingCommand: AsyncParsableCommand, Sendable {
    var isJSON: Bool { get }
    /// The daemon that it asks, as far as it asks one.
    var socketPath: String { get }
}
