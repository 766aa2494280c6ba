import ArgumentParser

/// A command whose failures are told in our way.
protocol ReportingCommand: AsyncParsableCommand, Sendable {
    var options: CommonOptions { get }
}
