import FoundationEssentials

/// A moment on the wall clock, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Written on every wire as ISO 8601 in UTC with milliseconds (`2026-11-21T09:30:00.000Z`). Used
/// for what people and other machines must understand; never to measure how long something took.
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

    /// Reads ISO 8601 in UTC, with or without fractions of a second (what is finer than a
    /// millisecond is dropped).
    package init?(iso8601 text: String) {
        var whole = text
        var fraction: Int64 = 0
        if let point = text.firstIndex(of: "."), text.hasSuffix("Z") {
            let digits = text[text.index(after: point)...].dropLast()
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int64((digits + "00").prefix(3))
            else { return nil }
            fraction = number
            whole = text[..<point] + "Z"
        }
        guard let date = try? Date(whole, strategy: .iso8601) else { return nil }
        self.init(milliseconds: Int64(date.timeIntervalSince1970) * 1000 + fraction)
    }

    /// `2026-11-21T09:30:00.000Z`
    package var iso8601: String {
        var text = TextBytes(capacity: 24)
        text.add(self)
        return text.text
    }

    /// The date so many days after 1970-01-01, in the proleptic Gregorian calendar (Howard Hinnant,
    /// chrono-Compatible Low-Level Date Algorithms, `civil_from_days`): years begin in March, so
    /// that the leap day is the last of its year.
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

    /// The moment `duration` later (or earlier, if negative), to the millisecond.
    package func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds + duration.wholeMilliseconds)
    }

    /// How much later `other` is than this.
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

extension TextBytes {
    /// A moment as ISO 8601.
    ///
    /// By our own arithmetic: it stands in every event, and a formatter costs ten times as much.
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

extension Timestamp: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let timestamp = Timestamp(iso8601: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "A time is ISO 8601 in UTC."
            )
        }
        self = timestamp
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(iso8601)
    }
}
