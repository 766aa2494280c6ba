import FoundationEssentials
import GotchuAPI
import GotchuCore

/// What one reader of events gets: an event, or a sign of life.
struct Delivery: Sendable {
    let kind: Kind
    let publishedAt: MonotonicTime
    /// As JSON with its line feed: made once, however many read it.
    let line: [UInt8]

    /// What has to be known of an event once it is written: many are copied, and whole ones are
    /// long.
    enum Kind: Sendable {
        case signOfLife
        /// Seen by everybody.
        case open
        /// Seen by those who have this level.
        case restricted(AccessLevel)
        /// How many events the reader has missed.
        case lagged
    }

    init(_ event: Event, at now: MonotonicTime) {
        kind = Kind(event)
        publishedAt = now
        line = event.quickLine ?? CanonicalJSON.bytes(of: event) + [UInt8(ascii: "\n")]
    }

    private init(signOfLifeAt now: MonotonicTime) {
        kind = .signOfLife
        publishedAt = now
        line = [UInt8(ascii: "\n")]
    }

    static func signOfLife(at now: MonotonicTime) -> Delivery { Delivery(signOfLifeAt: now) }

    /// Whether a reader with these levels may see it.
    func isVisible(to levels: Set<AccessLevel>) -> Bool {
        guard case .restricted(let level) = kind else { return true }
        return levels.contains(level)
    }
}

extension Delivery.Kind {
    fileprivate init(_ event: Event) {
        self =
            switch event {
            case .snapshot, .statusChanged, .presenceChanged, .presenceLost: .open
            case .requestChanged: .restricted(.cashier)
            case .paymentChanged: .restricted(.spender)
            case .lagged: .lagged
            }
    }
}
