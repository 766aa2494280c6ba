import FoundationEssentials

/// A moment on the wall clock, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Written everywhere as ISO 8601 in UTC with milliseconds (`2026-11-21T09:30:00.000Z`). Used for
/// display and exchange, never to measure a duration.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since the Unix epoch.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The system's wall clock now.
    package static var now: Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded()))
    }

    /// Parses ISO 8601 in UTC (`Z`), with or without fractions of a second. Digits beyond
    /// milliseconds are dropped.
    ///
    /// The year must be from 1970 to 9999. Another year is a mistake of the sender, and some
    /// programs cannot parse it.
    package init?(iso8601 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T"),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let year = Self.number(bytes[0..<4]), (1970...9999).contains(year),
            let month = Self.number(bytes[5..<7]), (1...12).contains(month),
            let day = Self.number(bytes[8..<10]),
            let hour = Self.number(bytes[11..<13]), hour < 24,
            let minute = Self.number(bytes[14..<16]), minute < 60,
            let second = Self.number(bytes[17..<19]), second < 60
        else { return nil }
        let days = Self.days(year, month, day)
        // A day that does not exist converts back to another date.
        guard Self.civil(days) == (year, month, day) else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            let digits = bytes[20..<bytes.count - 1]
            guard bytes[19] == UInt8(ascii: "."),
                digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let thousandths = Self.number(digits.prefix(3))
            else { return nil }
            fraction = thousandths * [100, 10, 1][min(digits.count, 3) - 1]
        }
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        self.init(milliseconds: seconds * 1000 + fraction)
    }

    /// Parses one or more decimal digits and nothing else. Callers pass at most 4 digits, which
    /// cannot overflow.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Returns the number of days from 1970-01-01 to a date. The reverse of `civil`.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = marchYear.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// `2026-11-21T09:30:00.000Z`
    package var iso8601: String {
        var text = TextBuilder(capacity: 24)
        text.add(self)
        return text.text
    }

    /// Returns the date that is the given number of days after 1970-01-01, in the proleptic
    /// Gregorian calendar. The algorithm is `civil_from_days` (Howard Hinnant, chrono-Compatible
    /// Low-Level Date Algorithms). Its years begin in March, so the leap day is the last day of a
    /// year.
    fileprivate static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (
            year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month,
            day: dayOfYear - (153 * fromMarch + 2) / 5 + 1
        )
    }

    /// Returns the moment `duration` later, to the millisecond. It is earlier if `duration` is
    /// negative.
    package func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds + duration.wholeMilliseconds)
    }

    /// Returns the time from this moment to `other`.
    package func duration(to other: Timestamp) -> Duration {
        .milliseconds(other.milliseconds - milliseconds)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension TextBuilder {
    /// Adds a moment as ISO 8601.
    ///
    /// Every event contains a moment. A formatter would take ten times as long.
    package mutating func add(_ moment: Timestamp) {
        let (days, rest) = moment.milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, day) = Timestamp.civil(days)
        if year < 0 { add(UInt8(ascii: "-")) }
        add(digits: year.magnitude, width: 4)
        add(UInt8(ascii: "-"))
        add(digits: month.magnitude, width: 2)
        add(UInt8(ascii: "-"))
        add(digits: day.magnitude, width: 2)
        add(UInt8(ascii: "T"))
        add(digits: rest.magnitude / 3_600_000, width: 2)
        add(UInt8(ascii: ":"))
        add(digits: rest.magnitude / 60_000 % 60, width: 2)
        add(UInt8(ascii: ":"))
        add(digits: rest.magnitude / 1000 % 60, width: 2)
        add(UInt8(ascii: "."))
        add(digits: rest.magnitude % 1000, width: 3)
        add(UInt8(ascii: "Z"))
    }
}

extension Timestamp: TextCodable {
    package init?(_ description: String) { self.init(iso8601: description) }

    package var description: String { iso8601 }
}
