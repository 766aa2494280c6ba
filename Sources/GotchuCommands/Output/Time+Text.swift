import GotchuCore
import ServiceProcess

extension Duration {
    /// The duration for a sentence, in whole seconds: `5 seconds`. Fractions are cut.
    var wholeSecondsText: String {
        let seconds = components.seconds
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }

    /// The measured duration: `0.8 s`, `75.0 s`; without a decimal from 100 s on: `120 s`.
    var tookText: String {
        let tenths = max(0, (wholeMilliseconds + 50) / 100)
        return tenths < 1000 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
    }

    /// The remaining time in minutes and seconds, rounded up: `4:58`.
    var countdownText: String {
        let seconds = max(0, (wholeMilliseconds + 999) / 1000)
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension Timestamp {
    /// The time of day in the system's time zone: `09:30:05`.
    var clockText: String { String(local.dropFirst(11).prefix(8)) }

    /// The date and time in the system's time zone: `2026-11-21 09:30`.
    var dateText: String { "\(local.prefix(10)) \(local.dropFirst(11).prefix(5))" }

    /// The local time to the second, in ISO 8601.
    private var local: String { LocalTimeZone.current.rules.text(of: self) }
}
