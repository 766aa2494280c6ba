package import GotchuCore

/// One line of `GET /v1/events` (NDJSON). The first is a `snapshot`; changes follow.
///
/// A reader gets only what its level allows. All readers get the status, and presences if they want
/// them. A cashier also gets requests; a spender also gets payments and refunds.
package enum Event: Equatable, Sendable {
    /// The whole state; always the first element.
    case snapshot(Snapshot)
    case statusChanged(StatusReply)
    /// A presence appeared or changed.
    case presenceChanged(PresenceView)
    /// A presence is no longer heard.
    case presenceLost(EID)
    case requestChanged(RequestView)
    case paymentChanged(PaymentView)
    /// The reader was too slow and missed this many events. It must reconnect for a snapshot.
    case lagged(Int)

    /// The whole state that a reader may see.
    package struct Snapshot: Codable, Equatable, Sendable {
        package var status: StatusReply
        package var sessions: [PresenceView]
        package var requests: [RequestView]
        package var payments: [PaymentView]

        package init(
            status: StatusReply,
            sessions: [PresenceView],
            requests: [RequestView],
            payments: [PaymentView]
        ) {
            self.status = status
            self.sessions = sessions
            self.requests = requests
            self.payments = payments
        }
    }
}

extension Event: Codable {
    private enum Kind: String, Codable {
        case snapshot, status, session, request, payment, lagged
        case sessionLost = "session_lost"
    }

    private enum CodingKeys: String, CodingKey {
        case event, snapshot, status, session, eid, request, payment, missed
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self =
            switch try container.decode(Kind.self, forKey: .event) {
            case .snapshot: .snapshot(try container.decode(Snapshot.self, forKey: .snapshot))
            case .status: .statusChanged(try container.decode(StatusReply.self, forKey: .status))
            case .session:
                .presenceChanged(try container.decode(PresenceView.self, forKey: .session))
            case .sessionLost: .presenceLost(try container.decode(EID.self, forKey: .eid))
            case .request:
                .requestChanged(try container.decode(RequestView.self, forKey: .request))
            case .payment:
                .paymentChanged(try container.decode(PaymentView.self, forKey: .payment))
            case .lagged: .lagged(try container.decode(Int.self, forKey: .missed))
            }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .snapshot(let snapshot):
            try container.encode(Kind.snapshot, forKey: .event)
            try container.encode(snapshot, forKey: .snapshot)
        case .statusChanged(let status):
            try container.encode(Kind.status, forKey: .event)
            try container.encode(status, forKey: .status)
        case .presenceChanged(let presence):
            try container.encode(Kind.session, forKey: .event)
            try container.encode(presence, forKey: .session)
        case .presenceLost(let eid):
            try container.encode(Kind.sessionLost, forKey: .event)
            try container.encode(eid, forKey: .eid)
        case .requestChanged(let request):
            try container.encode(Kind.request, forKey: .event)
            try container.encode(request, forKey: .request)
        case .paymentChanged(let payment):
            try container.encode(Kind.payment, forKey: .event)
            try container.encode(payment, forKey: .payment)
        case .lagged(let missed):
            try container.encode(Kind.lagged, forKey: .event)
            try container.encode(missed, forKey: .missed)
        }
    }
}
