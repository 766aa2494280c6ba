import FoundationEssentials
import GotchuAPI
import GotchuCore

/// What one reader of events gets: an event, or `nil` as a sign of life.
struct Delivery: Sendable {
    let event: Event?
    let publishedAt: MonotonicTime
    /// As JSON with its line feed: made once, however many read it.
    let line: [UInt8]

    init(_ event: Event?, at now: MonotonicTime) {
        self.event = event
        publishedAt = now
        var line = event.map { $0.quickLine ?? JSONEncoder.canonicalBytes(of: $0) } ?? []
        line.append(UInt8(ascii: "\n"))
        self.line = line
    }
}
