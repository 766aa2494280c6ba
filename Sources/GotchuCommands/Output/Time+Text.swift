import Glibc
import GotchuCore

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
    var clockText: String {
        let time = local
        return [time.tm_hour, time.tm_min, time.tm_sec].map(Self.twoDigits).joined(separator: ":")
    }

    /// The date and time in the system's time zone: `2026-11-21 09:30`.
    var dateText: String {
        let time = local
        let day = [time.tm_mon + 1, time.tm_mday].map(Self.twoDigits).joined(separator: "-")
        let clock = [time.tm_hour, time.tm_min].map(Self.twoDigits).joined(separator: ":")
        return "\(time.tm_year + 1900)-\(day) \(clock)"
    }

    private var local: tm {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }

    private static func twoDigits(_ number: CInt) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
