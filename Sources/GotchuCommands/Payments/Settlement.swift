import GotchuAPI
import GotchuCore

/// A request of this device that was paid, or a refund that was done.
struct Settlement: Sendable {
    enum Kind: String, Sendable {
        case paid, refunded
    }

    let kind: Kind
    /// The request's or the refund's.
    let id: String
    let date: Timestamp
    /// The event by which it is told.
    let event: Event

    /// `nil` for a request that is not paid.
    init?(_ request: RequestView) {
        guard request.state == .paid else { return nil }
        kind = .paid
        id = request.id.rawValue
        date = request.paidAt ?? request.createdAt
        event = .requestChanged(request)
    }

    /// `nil` for a payment, and for a refund that is not done.
    init?(_ payment: PaymentView) {
        guard payment.kind == .refund, payment.state == .paid else { return nil }
        kind = .refunded
        id = payment.id
        date = payment.updatedAt
        event = .paymentChanged(payment)
    }

    /// All that an event tells of, oldest first.
    static func all(in event: Event) -> [Settlement] {
        switch event {
        case .snapshot(let snapshot):
            (snapshot.requests.compactMap(Settlement.init)
                + snapshot.payments.compactMap(Settlement.init)).sorted { $0.date < $1.date }
        case .requestChanged(let request): [Settlement(request)].compactMap(\.self)
        case .paymentChanged(let payment): [Settlement(payment)].compactMap(\.self)
        case .statusChanged, .presenceChanged, .presenceLost, .lagged: []
        }
    }
}

/// Tells settlements apart that have come since the first snapshot, each once.
struct Settlements {
    /// The number that is remembered: more than one snapshot holds.
    static let limit = 1024

    private var isBegun = false
    private var known: [String] = []

    /// Returns what is new in an event, oldest first. The first snapshot has nothing new.
    mutating func apply(_ event: Event) -> [Settlement] {
        let new = Settlement.all(in: event).filter { !known.contains($0.id) }
        known += new.map(\.id)
        known.removeFirst(max(0, known.count - Self.limit))
        defer { isBegun = true }
        return isBegun ? new : []
    }
}
