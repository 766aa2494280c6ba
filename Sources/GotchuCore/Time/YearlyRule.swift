/// A zone's rule for future years, in POSIX format: `CET-1CEST,M3.5.0,M10.5.0/3` (RFC 9636, 3.3.1).
struct YearlyRule: Equatable, Sendable {
    /// A day of each year with the local time at which clocks change.
    private struct Change: Equatable {
        let month: Int64
        /// The week of the month, 1 to 5; 5 means the last.
        let week: Int64
        /// The day of the week; 0 is Sunday.
        let weekday: Int64
        /// Seconds after midnight; may be negative or more than a day.
        let time: Int64

        /// Returns the moment of the change, in seconds since 1970 of local time.
        func local(in year: Int64) -> Int64? {
            let name = "\(year)-\(month < 10 ? "0" : "")\(month)-01"
            guard let first = CalendarDay(name) else { return nil }
            // 1970-01-01 was a Thursday.
            let ahead = (weekday - (first.number + 4) % 7 + 7) % 7
            var day = first.advanced(by: ahead + (week - 1) * 7)
            if day.firstOfMonth != first { day = day.advanced(by: -7) }
            return day.number * 86_400 + time
        }
    }

    private struct Summer: Equatable {
        let offset: Int64
        let (start, end): (Change, Change)
    }

    private let standard: Int64
    /// The daylight saving time; `nil` if there is none.
    private let summer: Summer?

    /// The offset in seconds if it never changes; otherwise `nil`.
    var fixedOffset: Int64? { summer == nil ? standard : nil }

    /// Parses a rule; `nil` if it is invalid or uses day-of-year dates. No zone of tzdata uses
    /// them.
    init?(_ text: String) {
        var rest = text[...]
        guard Self.skipName(&rest), let west = Self.time(&rest, hours: 24) else { return nil }
        standard = -west
        guard !rest.isEmpty else {
            summer = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        let offset: Int64
        if rest.first == "," {
            offset = standard + 3_600
        } else {
            guard let west = Self.time(&rest, hours: 24) else { return nil }
            offset = -west
        }
        guard let start = Self.change(&rest), let end = Self.change(&rest), rest.isEmpty else {
            return nil
        }
        summer = Summer(offset: offset, start: start, end: end)
    }

    /// Returns the offset from UTC in seconds.
    func offset(at second: Int64) -> Int64 {
        guard let summer else { return standard }
        let day = CalendarDay(number: max(0, second + standard) / 86_400)
        guard let year = Int64(day.description.prefix(4)),
            let from = summer.start.local(in: year).map({ $0 - standard }),
            let until = summer.end.local(in: year).map({ $0 - summer.offset })
        else { return standard }
        let isSummer =
            from < until
            ? (from..<until).contains(second) : !(until..<from).contains(second)
        return isSummer ? summer.offset : standard
    }

    /// Skips `CET` or `<+0330>`.
    private static func skipName(_ rest: inout Substring) -> Bool {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    /// Reads `-3:30:00` as seconds.
    ///
    /// - Parameter hours: The largest number of hours. RFC 9636 permits 24 in the offsets and 167
    ///   in the times of the changes.
    private static func time(_ rest: inout Substring, hours limit: Int64) -> Int64? {
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest = rest.dropFirst() }
        let text = rest.prefix { $0 == ":" || ("0"..."9").contains($0) }
        rest = rest.dropFirst(text.count)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard (1...3).contains(parts.count),
            zip(parts, [limit, 59, 59]).allSatisfy({ ($0.0 ?? .max) <= $0.1 })
        else { return nil }
        let seconds = zip(parts, [3_600, 60, 1]).reduce(0) { $0 + ($1.0 ?? 0) * $1.1 }
        return isNegative ? -seconds : seconds
    }

    /// Reads `,M3.5.0/2`.
    private static func change(_ rest: inout Substring) -> Change? {
        guard rest.hasPrefix(",M") else { return nil }
        rest = rest.dropFirst(2)
        let text = rest.prefix { $0 == "." || ("0"..."9").contains($0) }
        rest = rest.dropFirst(text.count)
        let parts = text.split(separator: ".").compactMap { Int64($0) }
        guard parts.count == 3, (1...12).contains(parts[0]), (1...5).contains(parts[1]),
            (0...6).contains(parts[2])
        else { return nil }
        var time: Int64 = 2 * 3_600
        if rest.first == "/" {
            rest = rest.dropFirst()
            guard let given = Self.time(&rest, hours: 167) else { return nil }
            time = given
        }
        return Change(month: parts[0], week: parts[1], weekday: parts[2], time: time)
    }
}
