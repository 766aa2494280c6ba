extension Timestamp {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads the one form of an HTTP date that is sent today, `Sun, 06 Nov 1994 08:49:37 GMT`
    /// (RFC 9110, section 5.6.7).
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
