import ArgumentParser
import Glibc
import GotchuAPI
import GotchuCore

/// A time as a person types it. The formats are `+90m` (also with s, h, d), `2026-12-04 18:00` in
/// this machine's time zone, and `2026-12-04T18:00:00Z`.
struct TypedMoment: ExpressibleByArgument, Sendable {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// The largest number of units in `+90m`. In days it is a century.
    private static let limit: Int64 = 36_525

    let time: Timestamp

    init?(argument: String) {
        self.init(argument, now: .now)
    }

    init?(_ text: String, now: Timestamp) {
        if let time = Timestamp(iso8601: text) {
            self.time = time
        } else if text.hasPrefix("+"), let unit = text.last.flatMap({ Self.units[$0] }),
            let count = Int64(text.dropFirst().dropLast()), (0...Self.limit).contains(count)
        {
            time = now.advanced(by: .seconds(count * unit))
        } else if let time = Self.local(text) {
            self.time = time
        } else {
            return nil
        }
    }

    /// Parses `2026-12-04 18:00` in the system's time zone. Returns `nil` if that time does not
    /// exist.
    private static func local(_ text: String) -> Timestamp? {
        // Parsed as UTC first, to check that this day and hour exist.
        let pieces = text.split(separator: " ").map(String.init)
        guard pieces.count == 2, pieces[1].utf8.count == 5,
            Timestamp(iso8601: "\(pieces[0])T\(pieces[1]):00Z") != nil
        else { return nil }
        let numbers = text.split { !$0.isNumber }.compactMap { CInt($0) }
        guard numbers.count == 5 else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            numbers[0] - 1900, numbers[1] - 1, numbers[2]
        )
        (parts.tm_hour, parts.tm_min, parts.tm_isdst) = (numbers[3], numbers[4], -1)
        let seconds = mktime(&parts)
        // If a clock change skips the time, mktime returns another one.
        guard seconds != -1, parts.tm_hour == numbers[3], parts.tm_min == numbers[4] else {
            return nil
        }
        return Timestamp(milliseconds: Int64(seconds) * 1000)
    }
}

/// The shares of the ranks in percent, as a person types them: `50,30,20`, or `90,10x5` if five
/// ranks share ten percent. Their sum is 100.
struct TypedTiers: ExpressibleByArgument, Sendable {
    let tiers: [JSONValue]

    init?(argument: String) {
        var tiers: [JSONValue] = []
        var next: Int64 = 1
        var sum: Int64 = 0
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "x", omittingEmptySubsequences: false)
            let count = pieces.count == 2 ? Int64(pieces[1]) : 1
            // A percentage has at most two decimals, like an amount.
            guard (1...2).contains(pieces.count), let count, (1...10_000).contains(count),
                let share = Money(pieces[0])?.minorUnits, (1...10_000).contains(share)
            else { return nil }
            tiers.append(
                .object([
                    "rank_min": .integer(next), "rank_max": .integer(next + count - 1),
                    "share_bps": .integer(share),
                ])
            )
            next += count
            sum += share
        }
        guard sum == 10_000 else { return nil }
        self.tiers = tiers
    }

    init() {
        tiers = [
            .object([
                "rank_min": .integer(1), "rank_max": .integer(1), "share_bps": .integer(10_000),
            ])
        ]
    }

    var defaultValueDescription: String { "100" }
}
