internal import GotchuCore
internal import Logging

/// Keeps the database's clock, and says when this machine's is another.
final class ClockWatch: Sendable {
    /// A difference of clocks that is worth a word.
    private static let tolerance: Duration = .seconds(1)

    private let clock = DatabaseClock()
    private let isOff = Change()
    private let logger: Logger

    var now: Timestamp { clock.now }

    init(logger: Logger) {
        self.logger = logger
    }

    /// Takes what the database has said.
    func set(_ time: Timestamp, asked: MonotonicTime, answered: MonotonicTime) {
        clock.set(time, asked: asked, answered: answered)
        compare()
    }

    /// The database's time counts, whoever of the two is right. But who reads this machine's clock
    /// is misled: those who follow its log, and the keys of an issuer.
    private func compare() {
        let difference = clock.now.duration(to: .now)
        let isOff = difference > Self.tolerance || difference < .zero - Self.tolerance
        guard self.isOff.note(isOff) else { return }
        if isOff {
            logger.error(
                "This machine's clock and the database's differ: the database's counts.",
                metadata: ["ahead-milliseconds": "\(difference.wholeMilliseconds)"]
            )
        } else {
            logger.notice("This machine's clock and the database's agree again.")
        }
    }
}
