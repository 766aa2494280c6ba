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
    ///
    /// By our own arithmetic: it stands in every event, and a formatter costs ten times as much.
    package var iso8601: String {
        let (days, rest) = milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, day) = Self.civil(days)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        if year < 0 { text.append(UInt8(ascii: "-")) }
        text.append(digits: abs(year), width: 4, before: "-")
        text.append(digits: month, width: 2, before: "-")
        text.append(digits: day, width: 2, before: "T")
        text.append(digits: rest / 3_600_000, width: 2, before: ":")
        text.append(digits: rest / 60_000 % 60, width: 2, before: ":")
        text.append(digits: rest / 1000 % 60, width: 2, before: ".")
        text.append(digits: rest % 1000, width: 3, before: "Z")
        return String(decoding: text, as: UTF8.self)
    }

    /// The date so many days after 1970-01-01, in the proleptic Gregorian calendar (Howard Hinnant,
    /// chrono-Compatible Low-Level Date Algorithms, `civil_from_days`): years begin in March, so
    /// that the leap day is the last of its year.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

extension [UInt8] {
    /// Appends a number with zeros in front of it, and the sign that follows it.
    fileprivate mutating func append(
        digits number: Int64,
        width: Int,
        before sign: Unicode.Scalar
    ) {
        let digits = String(number).utf8
        for _ in 0..<Swift.max(0, width - digits.count) { append(UInt8(ascii: "0")) }
        append(contentsOf: digits)
        append(UInt8(ascii: sign))
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
