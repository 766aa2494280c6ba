import Glibc
import GotchuCore

extension Duration {
    /// `5 seconds`: a duration for a sentence.
    var wholeSecondsText: String {
        let seconds = components.seconds
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }

    /// `0.8 s`, `75 s`: a measured duration.
    var tookText: String {
        let tenths = max(0, (wholeMilliseconds + 50) / 100)
        return tenths < 1000 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
    }

    /// `4:58`: a remaining time.
    var countdownText: String {
        let seconds = max(0, (wholeMilliseconds + 999) / 1000)
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension Timestamp {
    /// `09:30:05` in the system's time zone.
    var clockText: String {
        let time = local
        return [time.tm_hour, time.tm_min, time.tm_sec].map(Self.twoDigits).joined(separator: ":")
    }

    /// `2026-11-21 09:30` in the system's time zone.
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
