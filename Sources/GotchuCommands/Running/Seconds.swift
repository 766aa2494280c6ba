import ArgumentParser

/// A number of seconds as a person types it: `10`, `2.5`; above zero and at most a day.
struct Seconds: ExpressibleByArgument, Sendable {
    private static let limit = 86_400.0

    let duration: Duration

    init?(argument: String) {
        guard let seconds = Double(argument), seconds > 0, seconds <= Self.limit else { return nil }
        duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }

    init(_ seconds: Int) {
        duration = .seconds(seconds)
    }

    var defaultValueDescription: String { "\(duration.components.seconds)" }
}
