import GotchuAPI
import GotchuCore

/// A paid request of this device, or a completed refund.
struct Settlement: Sendable {
    enum Kind: String, Sendable {
        case paid, refunded
    }

    let kind: Kind
    /// The id of the request or the refund.
    let id: String
    let date: Timestamp
    /// The event that reports it.
    let event: Event

    /// Creates a settlement; `nil` for a request that is not paid.
    init?(_ request: RequestView) {
        guard request.state == .paid else { return nil }
        kind = .paid
        id = request.id.rawValue
        date = request.paidAt ?? request.createdAt
        event = .requestChanged(request)
    }

    /// Creates a settlement; `nil` for a payment, and for a refund that is not complete.
    init?(_ payment: PaymentView) {
        guard payment.kind == .refund, payment.state == .paid else { return nil }
        kind = .refunded
        id = payment.id
        date = payment.updatedAt
        event = .paymentChanged(payment)
    }
}

/// Finds the settlements that are new since the first event, a snapshot. Returns each once.
struct Settlements {
    /// The number of remembered settlements; more than a snapshot holds.
    static let limit = 1024

    private var isBegun = false
    private var known: [String] = []

    /// Returns the new settlements of an event, oldest first. Settlements of the first event are
    /// only remembered, not returned.
    mutating func apply(_ event: Event) -> [Settlement] {
        let all =
            event.requests.compactMap(Settlement.init) + event.payments.compactMap(Settlement.init)
        let new = all.filter { !known.contains($0.id) }.sorted { $0.date < $1.date }
        known += new.map(\.id)
        known.removeFirst(max(0, known.count - Self.limit))
        defer { isBegun = true }
        return isBegun ? new : []
    }
}
