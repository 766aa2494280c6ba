import Foundation
import Testing

@testable import GotchuCore

@Suite("Time zones")
struct TimeZoneRulesTests {
    private static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
        "America/Santiago", "Pacific/Chatham", "America/Havana", "Asia/Tokyo", "Etc/GMT+5",
    ]

    private func rules(_ name: String) throws -> TimeZoneRules {
        let data = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))
        return try #require(TimeZoneRules(tzif: [UInt8](data)))
    }

    @Test(
        "Offsets equal Foundation's, even after the file's last transition",
        arguments: zones
    )
    func offsets(name: String) throws {
        let rules = try rules(name)
        let zone = try #require(TimeZone(identifier: name))
        for hour in stride(from: Int64(262_968), to: 850_000, by: 11) {
            let expected = zone.secondsFromGMT(
                for: Date(timeIntervalSince1970: Double(hour) * 3600)
            )
            let offset = rules.offset(at: Timestamp(milliseconds: hour * 3_600_000))
            #expect(offset == Int64(expected) * 1000, "\(name), hour \(hour)")
            if offset != Int64(expected) * 1000 { break }
        }
    }

    @Test(
        "The start of a day belongs to the day, and the second before the start to an earlier day",
        arguments: zones
    )
    func days(name: String) throws {
        let rules = try rules(name)
        let first = try #require(CalendarDay("2000-01-01"))
        for number in Int64(0)..<20_000 {
            let day = first.advanced(by: number)
            let start = rules.start(of: day)
            #expect(rules.day(at: start) == day)
            #expect(rules.day(at: start.advanced(by: .seconds(-1))) < day)
        }
    }

    @Test("A day in Berlin has 23, 24 or 25 hours")
    func lengths() throws {
        let rules = try rules("Europe/Berlin")
        let hours = try ["2026-03-29", "2026-03-30", "2026-10-25"].map { text in
            let day = try #require(CalendarDay(text))
            let length = rules.start(of: day).duration(to: rules.start(of: day.advanced(by: 1)))
            return length / .seconds(3600)
        }
        #expect(hours == [23, 24, 25])
        let winter = try #require(Timestamp(iso8601: "2026-10-25T01:00:00Z"))
        #expect(rules.text(of: winter) == "2026-10-25T02:00:00+01:00")
    }

    @Test("A valid yearly rule is parsed, and an invalid one is refused")
    func rule() throws {
        let rule = try #require(YearlyRule("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"))
        let summer = try #require(Timestamp(iso8601: "2050-01-01T00:00:00Z"))
        let winter = try #require(Timestamp(iso8601: "2050-07-01T00:00:00Z"))
        #expect(rule.offset(at: summer.milliseconds / 1000) == 11 * 3600)
        #expect(rule.offset(at: winter.milliseconds / 1000) == 10 * 3600 + 1800)
        for right in ["CET-24", "CET24:59:59", "CET-1CEST-24,M3.5.0/-167,M10.5.0/167"] {
            #expect(YearlyRule(right) != nil, "\(right)")
        }
        for wrong in [
            "", "CE-1", "CET", "CET-1CEST", "CET-1CEST,M3.6.0,M10.5.0", "CET-1,J1,J2", "CET-25",
            "CET-1:60", "CET-1CEST-25,M3.5.0,M10.5.0", "CET-1CEST,M3.5.0/168,M10.5.0",
        ] {
            #expect(YearlyRule(wrong) == nil, "\(wrong)")
        }
    }

    @Test("A truncated zone file is refused, and a damaged one never gives an offset of 26 hours")
    func damaged() throws {
        let data = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Berlin"))
        let bytes = [UInt8](data)
        for length in 0..<bytes.count - 40 {
            #expect(TimeZoneRules(tzif: Array(bytes.prefix(length))) == nil)
        }
        var accepted = 0
        for index in bytes.indices {
            for byte in [bytes[index] ^ 0xFF, UInt8(ascii: "9")] {
                var changed = bytes
                changed[index] = byte
                guard let rules = TimeZoneRules(tzif: changed) else { continue }
                accepted += 1
                #expect(abs(rules.offset(at: .now)) < 26 * 3_600_000, "\(byte) at \(index)")
            }
        }
        #expect(accepted > 0)
    }

    @Test("A zone name that could lead to another file is refused")
    func zoneNames() {
        for good in ["UTC", "Europe/Berlin", "Etc/GMT+5", "America/Port-au-Prince"] {
            #expect(TimeZoneName(good)?.rawValue == good)
        }
        for bad in ["", "/etc/passwd", "../passwd", "Europe/Ber lin", "Zürich", "a&b"] {
            #expect(TimeZoneName(bad) == nil)
        }
    }

    @Test("A valid date has the first days of its week and month, and an invalid date is refused")
    func dates() throws {
        let day = try #require(CalendarDay("2028-02-29"))
        #expect(day.description == "2028-02-29" && day.monday.description == "2028-02-28")
        #expect(day.firstOfMonth.description == "2028-02-01")
        #expect(day.advanced(by: 1).description == "2028-03-01")
        for wrong in ["2026-02-29", "2026-1-01", "1969-12-31", "", "2026-11-21T", "2026-11-2x"] {
            #expect(CalendarDay(wrong) == nil, "\(wrong)")
        }
    }
}
