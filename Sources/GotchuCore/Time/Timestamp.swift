import FoundationEssentials

/// A moment on the wall clock, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Written on every wire as ISO 8601 in UTC with milliseconds (`2026-11-21T09:30:00.000Z`). Used for
/// what people and other machines must understand; never to measure how long something took.
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

    /// Reads ISO 8601 in UTC, with or without fractions of a second.
    package init?(iso8601 text: String) {
        let date =
            (try? Date(text, strategy: Self.style(hasFraction: true)))
            ?? (try? Date(text, strategy: Self.style(hasFraction: false)))
        guard let date else { return nil }
        self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    /// `2026-11-21T09:30:00.000Z`
    package var iso8601: String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Self.style(hasFraction: true))
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

    private static func style(hasFraction: Bool) -> Date.ISO8601FormatStyle {
        Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
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
