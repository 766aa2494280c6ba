import FoundationEssentials
import GotchuCore
import TestSupport
import Testing

@Suite("Small values")
struct ValueTests {
    @Test(
        "A level that no controller can measure is not an RSSI",
        arguments: [127, 0, 21, -128, 1000]
    )
    func noRSSI(dBm: Int) {
        #expect(RSSI(dBm: dBm) == nil)
    }

    @Test("A level that a controller can measure is an RSSI", arguments: [-127, -60, -1, 1, 20])
    func rssi(dBm: Int) {
        #expect(RSSI(dBm: dBm)?.dBm == dBm)
    }

    @Test("An idempotency key is parsed with or without quotes, and an invalid one is refused")
    func keys() {
        let text = "0123456789abcdef"
        #expect(IdempotencyKey(header: text)?.rawValue == text)
        #expect(IdempotencyKey(header: "\"\(text)\"")?.rawValue == text)
        #expect(IdempotencyKey(header: "short") == nil)
        #expect(IdempotencyKey(header: "0123456789abcde f") == nil)
        #expect(IdempotencyKey(header: "0123456789abcdé_") == nil)
        #expect(IdempotencyKey(header: String(repeating: "a", count: 255)) != nil)
        #expect(IdempotencyKey(header: String(repeating: "a", count: 256)) == nil)
        #expect(IdempotencyKey.random() != IdempotencyKey.random())
    }

    @Test("An unsafe session id is refused", arguments: ["", "a/b", "..", "a b", "a?b", "ä"])
    func sessionIDs(text: String) {
        #expect(SessionID(rawValue: text) == nil)
    }

    @Test("A timestamp's text equals Foundation's from 1895 to 2165")
    func calendar() throws {
        // Steps of 37 hours reach all hours of the day and all kinds of years.
        for hours in stride(from: -657_000, through: 1_709_000, by: 37) {
            let seconds = Int64(hours) * 3600 + Int64(hours % 3600)
            let date = Date(timeIntervalSince1970: Double(seconds))
            let text = Timestamp(milliseconds: seconds * 1000 + 7).iso8601
            try #require(text == date.formatted(.iso8601).dropLast() + ".007Z")
        }
    }

    @Test(
        "A time is formatted as an HTTP date, and an HTTP date from 1970 on is parsed",
        arguments: [
            (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_825_600_999, "Tue, 29 Feb 2000 12:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (-86_400_000, "Wed, 31 Dec 1969 00:00:00 GMT"),
        ] as [(Int64, String)]
    )
    func httpDates(milliseconds: Int64, text: String) throws {
        #expect(Timestamp(milliseconds: milliseconds).httpDate == text)
        let whole = Timestamp(httpDate: text)
        guard milliseconds >= 0 else { return #expect(whole == nil) }
        #expect((0..<1000).contains(milliseconds - (try #require(whole)).milliseconds))
    }

    @Test("A timestamp is parsed from its ISO 8601 text to the millisecond")
    func timestamps() throws {
        let moment = Timestamp(milliseconds: 1_795_253_513_123)
        #expect(moment.iso8601 == "2026-11-21T09:31:53.123Z")
        #expect(Timestamp(iso8601: moment.iso8601) == moment)
        #expect(Timestamp(iso8601: "2026-11-21T09:31:53Z")?.milliseconds == 1_795_253_513_000)
        #expect(Timestamp(iso8601: "2026-11-21T09:31:53.1239Z") == moment)
        #expect(moment.advanced(by: .seconds(-1)).duration(to: moment) == .seconds(1))
    }

    @Test("Every time from 1970 to 9999 can be parsed from its own text")
    func everyTime() throws {
        var random = SeededGenerator("timestamps")
        let last: Int64 = 253_402_300_799_999
        let some = (0..<20_000 * effort).map { _ in Int64.random(in: 0...last, using: &random) }
        for milliseconds in [0, last] + some {
            let moment = Timestamp(milliseconds: milliseconds)
            try #require(Timestamp(iso8601: moment.iso8601) == moment, "\(milliseconds)")
        }
    }

    @Test(
        "A time outside 1970 to 9999, or in another form, is refused",
        arguments: [
            "yesterday", "", "Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
            "1500-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "10000-01-01T00:00:00Z",
            "-2026-01-01T00:00:00Z", "+2026-01-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00", "2026-01-01T00:00:00+00:00", "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1x3Z", "2026-01-01T00:00:00,5Z",
            "٢٠٢٦-01-01T00:00:00Z",
        ]
    )
    func unreadableTimes(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test("A retry waits up to 2, 4, 8 … 60 s, half of it random, or for the time in Retry-After")
    func retries() {
        var longest = RetrySchedule()
        let waits = (0..<8).map { _ in longest.next(retryAfter: nil, jitter: 0.999_999) }
        #expect(waits[0] > .milliseconds(1999) && waits[0] <= .seconds(2))
        #expect(waits[4] > .milliseconds(31_999) && waits[4] <= .seconds(32))
        #expect(waits[5...].allSatisfy { $0 > .seconds(59) && $0 <= .seconds(60) })
        var shortest = RetrySchedule()
        #expect(shortest.next(retryAfter: nil, jitter: 0) == .seconds(1))
        #expect(shortest.next(retryAfter: .seconds(30), jitter: 0) == .seconds(30))
        #expect(shortest.next(retryAfter: .seconds(9999), jitter: 0) == .seconds(300))
    }

    @Test("An operation that exceeds its time limit is cancelled and throws `TimedOut`")
    func timeout() async {
        await #expect(throws: TimedOut.self) {
            try await withTimeout(.milliseconds(10)) {
                // SAFETY: simulates work that never ends; it is cancelled after 10 ms.
                try await Task.sleep(for: .seconds(3600))
            }
        }
    }

    @Test("A percent-encoded text is decoded to the same text, and a broken escape is refused")
    func percent() {
        for text in ["Front/1 till?#&=%+.", "ü \u{1F957}", "", "plain-_9"] {
            let encoded = percentEncoded(text)
            #expect(encoded.wholeMatch(of: /([A-Za-z0-9_-]|%[0-9A-F]{2})*/) != nil, "\(encoded)")
            #expect(percentDecoded(encoded) == text)
        }
        for text in ["%", "%2", "%zz", "%+1", "%ff"] { #expect(percentDecoded(text) == nil) }
    }
}
