/// A date of the Gregorian calendar, 1970-01-01 or later, in no particular time zone.
package struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    private static let milliseconds: Int64 = 86_400_000

    /// Days since 1970-01-01.
    package let number: Int64

    /// Parses `2026-11-21`.
    package init?(_ text: String) {
        guard text.utf8.count == 10, let start = Timestamp(iso8601: text + "T00:00:00Z") else {
            return nil
        }
        number = start.milliseconds / Self.milliseconds
    }

    init(number: Int64) {
        self.number = number
    }

    /// `2026-11-21`
    package var description: String {
        String(Timestamp(milliseconds: number * Self.milliseconds).iso8601.prefix(10))
    }

    /// The Monday of its week. 1970-01-01 was a Thursday.
    package var monday: CalendarDay { CalendarDay(number: number - (number + 3) % 7) }

    package var firstOfMonth: CalendarDay {
        CalendarDay(number: number + 1 - (Int64(description.suffix(2)) ?? 1))
    }

    package func advanced(by days: Int64) -> CalendarDay { CalendarDay(number: number + days) }

    package static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        left.number < right.number
    }
}
