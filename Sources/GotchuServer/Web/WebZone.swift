internal import GotchuAPI
internal import GotchuCore
internal import Pages
internal import ServiceProcess

/// The time zone of the times on a page: the zone in the address; by default this machine's zone.
struct WebZone: Sendable {
    /// The zone of this machine, which is usually the shop's. Its name may be empty.
    private static let local = WebZone(
        name: (try? LocalTimeZone.current.name().rawValue) ?? "",
        rules: LocalTimeZone.current.rules,
        now: .now
    )

    let name: String
    let rules: TimeZoneRules
    private let today: CalendarDay
    private let words: LayoutWords

    private init(
        name: String,
        rules: TimeZoneRules,
        now: Timestamp,
        in language: Language = .english
    ) {
        self.name = name
        self.rules = rules
        today = rules.day(at: now)
        words = language.layout
    }

    /// Returns the zone of this machine.
    static func local(at now: Timestamp, in language: Language = .english) -> WebZone {
        WebZone(name: local.name, rules: local.rules, now: now, in: language)
    }

    /// Creates a zone from its name.
    ///
    /// - Parameter name: A zone's name; `nil` for this machine's zone.
    /// - Throws: A problem: 400 for an unknown name.
    init(_ name: String?, now: Timestamp) throws(Problem) {
        guard let name else {
            self = .local(at: now)
            return
        }
        guard let rules = TimeZoneName(name).flatMap(TimeZoneFiles().rules(of:)) else {
            throw .invalid("The time zone must be a name such as Europe/Berlin.")
        }
        self.init(name: name, rules: rules, now: now)
    }

    /// Formats a time for people, to the minute: `Today 18:01`, `Fri 20 Nov 19:12`.
    ///
    /// - Parameter hasFullDate: True to write the date even if it is today, for a text that may be
    ///   read on a later day.
    func time(_ moment: Timestamp, hasFullDate: Bool = false) -> HTML {
        let text = text(of: moment)
        let (day, clock) = (rules.day(at: moment), text.dropFirst(11).prefix(5))
        let date = hasFullDate ? fullDate(day) : date(day)
        return "<time datetime=\"\(text)\">\(date) \(clock)</time>"
    }

    /// Formats a local time with its offset from UTC, for other programs.
    func text(of moment: Timestamp) -> String { rules.text(of: moment) }

    /// Parses a local time in the format of a browser's field: `2026-12-04T18:00`.
    ///
    /// - Returns: `nil` for a malformed text. For an ambiguous local time, the earlier time.
    func moment(local text: String) -> Timestamp? {
        guard text.utf8.count == 16, let written = Timestamp(iso8601: "\(text):00Z") else {
            return nil
        }
        let before = written.advanced(by: .seconds(-86_400))
        let early = written.advanced(by: .milliseconds(-rules.offset(at: before)))
        if rules.offset(at: early) == rules.offset(at: before) { return early }
        return written.advanced(by: .milliseconds(-rules.offset(at: early)))
    }

    /// Formats a date for people: `Today`, or the full date.
    func date(_ day: CalendarDay) -> String { day == today ? words.today : fullDate(day) }

    /// Formats a full date for people: `Fri 20 Nov`. If it is not in this year, the year follows.
    func fullDate(_ day: CalendarDay) -> String {
        let parts = day.description.split(separator: "-")
        guard parts.count == 3, let number = Int(parts[2]), let month = Int(parts[1]) else {
            return day.description
        }
        let weekday = words.weekdays[Int((day.number + 3) % 7)]
        let year = day.description.prefix(4) == today.description.prefix(4) ? "" : " \(parts[0])"
        let text = words.date.filled(weekday, "\(number)", words.months[month - 1])
        return text + year
    }
}
