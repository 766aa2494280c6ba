extension Timestamp {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The time as an HTTP date, to the second: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var httpDate: String {
        // `1994-11-06T08:49:37.000Z`; the first day of 1970 was a Thursday.
        let parts = iso8601.split { "-T.".contains($0) }
        guard parts.count == 5, let month = Int(parts[1]) else { return "" }
        let days = (milliseconds - (milliseconds < 0 ? 86_399_999 : 0)) / 86_400_000
        let weekday = Self.weekdays[Int((days % 7 + 7) % 7)]
        return "\(weekday), \(parts[2]) \(Self.months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }

    /// Parses the preferred format of an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110,
    /// section 5.6.7). Obsolete formats are not accepted.
    package init?(httpDate text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2,
            parts[3].utf8.count == 4, parts[4].utf8.count == 8,
            let month = Self.months.firstIndex(of: String(parts[2]))
        else { return nil }
        let monthDigits = "\(month < 9 ? "0" : "")\(month + 1)"
        self.init(iso8601: "\(parts[3])-\(monthDigits)-\(parts[1])T\(parts[4])Z")
    }
}
