package import GotchuCore

/// A time in the replies under `/api`: ISO 8601 in UTC with whole seconds, rounded down
/// (`2026-11-21T09:30:00Z`).
///
/// Formatters of phones read no fractions of a second unless they are told to. Decoding accepts
/// them and drops them.
package struct WireTime: TextCodable, Hashable, Sendable {
    package let value: Timestamp

    package init(_ time: Timestamp) {
        let rest = time.milliseconds % 1000
        let below = rest < 0 ? rest + 1000 : rest
        value = Timestamp(milliseconds: time.milliseconds - below)
    }

    package init?(_ description: String) {
        guard let time = Timestamp(iso8601: description) else { return nil }
        self.init(time)
    }

    package var description: String { "\(value.iso8601.dropLast(5))Z" }
}
