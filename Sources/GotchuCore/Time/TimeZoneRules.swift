/// The offsets of a time zone from UTC, read from a tzdata file (RFC 9636).
package struct TimeZoneRules: Equatable, Sendable {
    private struct Transition: Equatable {
        let at: Int64
        let offset: Int64
    }

    /// The transitions, oldest first; times and offsets in seconds.
    private let transitions: [Transition]
    /// The offset before the first transition.
    private let first: Int64
    /// The rule after the last transition; `nil` if the last offset continues to apply.
    private let yearly: YearlyRule?

    package static let utc = TimeZoneRules(transitions: [], first: 0, yearly: nil)

    private init(transitions: [Transition], first: Int64, yearly: YearlyRule?) {
        self.transitions = transitions
        // Equal zones must be equal values: a rule without changes is an offset.
        let fixed = transitions.isEmpty ? yearly?.fixedOffset : nil
        self.first = fixed ?? first
        self.yearly = fixed == nil ? yearly : nil
    }

    /// Parses a rule for all years, in POSIX format: `CET-1CEST,M3.5.0,M10.5.0/3`.
    package init?(posix text: String) {
        guard let yearly = YearlyRule(text) else { return nil }
        self.init(transitions: [], first: 0, yearly: yearly)
    }

    /// Parses a TZif file of version 2 or later.
    ///
    /// - Returns: `nil` if it is invalid: the content is not trusted. Also for a zone that counts
    ///   leap seconds.
    package init?(tzif bytes: [UInt8]) {
        guard let old = Header(bytes, at: 0), old.version >= UInt8(ascii: "2"),
            let header = Header(bytes, at: Header.length + old.bodyLength(timeWidth: 4))
        else { return nil }
        let times = header.start + Header.length
        let indexes = times + header.timeCount * 8
        let types = indexes + header.timeCount
        let end = header.start + Header.length + header.bodyLength(timeWidth: 8)
        guard header.typeCount > 0, header.leapCount == 0, end <= bytes.count else { return nil }
        let offsets = (0..<header.typeCount).map { bytes.integer(at: types + $0 * 6, width: 4) }
        var transitions: [Transition] = []
        for index in 0..<header.timeCount {
            let type = Int(bytes[indexes + index])
            let time = bytes.integer(at: times + index * 8, width: 8)
            guard type < offsets.count, transitions.last.map({ $0.at < time }) ?? true else {
                return nil
            }
            transitions.append(Transition(at: time, offset: offsets[type]))
        }
        guard offsets.allSatisfy({ abs($0) < 26 * 3_600 }) else { return nil }
        let footer = bytes[end...].dropFirst().prefix { $0 != UInt8(ascii: "\n") }
        let yearly = YearlyRule(String(decoding: footer, as: UTF8.self))
        guard footer.isEmpty || yearly != nil else { return nil }
        self.init(transitions: transitions, first: offsets[0], yearly: yearly)
    }

    /// The number of milliseconds by which local time is ahead of UTC at a moment.
    package func offset(at moment: Timestamp) -> Int64 {
        offset(at: moment.milliseconds / 1000) * 1000
    }

    /// The date at a moment.
    package func day(at moment: Timestamp) -> CalendarDay {
        CalendarDay(number: (moment.milliseconds + offset(at: moment)) / 86_400_000)
    }

    /// The first moment of a date. It is not always 00:00: in some zones, clocks go forward at
    /// midnight.
    package func start(of day: CalendarDay) -> Timestamp {
        let midnight = day.number * 86_400
        let before = offset(at: midnight - 86_400)
        let possible = [before, offset(at: midnight + 86_400)].map { midnight - $0 }
            .filter { $0 + offset(at: $0) == midnight }
        if let first = possible.min() { return Timestamp(milliseconds: first * 1000) }
        // Local midnight was skipped: the date begins with the transition.
        var (low, high) = (midnight - 86_400, midnight - before)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(at: middle) == before { low = middle } else { high = middle }
        }
        return Timestamp(milliseconds: high * 1000)
    }

    /// `2026-11-21T08:00:00+01:00`: local time with its offset, to the second.
    package func text(of moment: Timestamp) -> String {
        let offset = offset(at: moment)
        let local = Timestamp(milliseconds: moment.milliseconds + offset).iso8601.prefix(19)
        let minutes = abs(offset) / 60_000
        let parts = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(local)\(offset < 0 ? "-" : "+")\(parts.joined(separator: ":"))"
    }

    private func offset(at second: Int64) -> Int64 {
        guard let last = transitions.last else {
            return yearly?.offset(at: second) ?? first
        }
        if second >= last.at, let yearly { return yearly.offset(at: second) }
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].at <= second { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : transitions[low - 1].offset
    }
}

extension TimeZoneRules {
    /// The header of one of the two blocks of a file.
    private struct Header {
        static let length = 44

        let start: Int
        let version: UInt8
        let (timeCount, typeCount, leapCount): (Int, Int, Int)
        private let (utcCount, standardCount, characterCount): (Int, Int, Int)

        init?(_ bytes: [UInt8], at start: Int) {
            guard bytes.count >= start + Self.length,
                bytes[start..<start + 4].elementsEqual("TZif".utf8)
            else { return nil }
            let counts = (0..<6).map { Int(bytes.integer(at: start + 20 + $0 * 4, width: 4)) }
            guard counts.allSatisfy({ (0...10_000).contains($0) }) else { return nil }
            self.start = start
            version = bytes[start + 4]
            (utcCount, standardCount, leapCount) = (counts[0], counts[1], counts[2])
            (timeCount, typeCount, characterCount) = (counts[3], counts[4], counts[5])
        }

        func bodyLength(timeWidth: Int) -> Int {
            timeCount * (timeWidth + 1) + typeCount * 6 + characterCount
                + leapCount * (timeWidth + 4) + standardCount + utcCount
        }
    }
}

extension [UInt8] {
    /// Returns a signed number of 4 or 8 bytes in network byte order. The bytes must exist.
    fileprivate func integer(at start: Int, width: Int) -> Int64 {
        let bits = self[start..<start + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width == 4
            ? Int64(Int32(bitPattern: UInt32(bits))) : Int64(bitPattern: bits)
    }
}
