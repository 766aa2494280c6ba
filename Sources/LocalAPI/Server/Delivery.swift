import GotchuAPI
import GotchuCore

/// What one reader of events gets: an event, or `nil` as a sign of life.
struct Delivery: Sendable {
    let event: Event?
    let publishedAt: MonotonicTime

    init(_ event: Event?, at now: MonotonicTime) {
        self.event = event
        publishedAt = now
    }
}
