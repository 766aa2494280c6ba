import ArgumentParser
import GotchuAPI
import GotchuCore

/// The condition that `gotchu-ctl wait` waits for.
enum WaitCondition: ExpressibleByArgument, Equatable, Sendable {
    /// Requests and payments can be made.
    case ready
    /// A presence is within reach.
    case near
    /// A presence is at tap distance.
    case tap
    /// The request or payment with this id, or the request with this EID, is paid.
    case paid(String)

    init?(argument: String) {
        switch argument {
        case "ready": self = .ready
        case "near": self = .near
        case "tap": self = .tap
        default:
            guard argument.hasPrefix("paid:"), argument.utf8.count > 5 else { return nil }
            self = .paid(String(argument.dropFirst(5)))
        }
    }

    static let allValueStrings = ["ready", "near", "tap", "paid:ID"]

    /// A Boolean that is true if it depends on the presences heard.
    var needsSessions: Bool { self == .near || self == .tap }

    /// The state of a condition after an event.
    enum Truth: Equatable, Sendable {
        case holds
        /// It cannot become true any more; the text is the reason.
        case impossible(String)
        /// The object does not exist, or this user may not see it.
        case notShown
        /// Not true yet, or the event does not concern it.
        case open
    }

    /// Evaluates the condition after an event that was already applied to `list`.
    func judge(_ event: Event, list: PresenceList) -> Truth {
        switch self {
        case .ready:
            switch event {
            case .snapshot(let snapshot): snapshot.status.isReady ? .holds : .open
            case .statusChanged(let status): status.isReady ? .holds : .open
            case .presenceChanged, .presenceLost, .requestChanged, .paymentChanged, .lagged:
                .open
            }
        case .near:
            list.sorted.contains { [.tap, .near].contains($0.verdict) && $0.session != nil }
                ? .holds : .open
        case .tap: list.sorted.contains { $0.verdict == .tap } ? .holds : .open
        case .paid(let id):
            switch event {
            case .snapshot(let snapshot): judge(id, snapshot)
            case .requestChanged(let request): request.matches(id) ? judge(request) : .open
            case .paymentChanged(let payment): payment.id == id ? judge(payment) : .open
            case .statusChanged, .presenceChanged, .presenceLost, .lagged: .open
            }
        }
    }

    private func judge(_ id: String, _ snapshot: Event.Snapshot) -> Truth {
        if let request = snapshot.requests.first(where: { $0.matches(id) }) {
            return judge(request)
        }
        if let payment = snapshot.payments.first(where: { $0.id == id }) {
            return judge(payment)
        }
        return .notShown
    }

    private func judge(_ request: RequestView) -> Truth {
        switch request.state {
        case .paid: .holds
        case .expired, .cancelled: .impossible("The request is \(request.state.rawValue).")
        case .advertising, .locked, .unknown: .open
        }
    }

    private func judge(_ payment: PaymentView) -> Truth {
        switch payment.state {
        case .paid: .holds
        case .declined: .impossible("Not paid: \(payment.detail.printable)")
        case .locking, .sending, .unknown: .open
        }
    }
}

extension WaitCondition: CustomStringConvertible {
    var description: String {
        switch self {
        case .ready: "ready"
        case .near: "near"
        case .tap: "tap"
        case .paid(let id): "paid:\(id)"
        }
    }
}

extension RequestView {
    /// Returns true if the text is the request's id, its current EID or its first EID.
    func matches(_ text: String) -> Bool {
        id.rawValue == text || [eid, firstEID].contains { $0?.description == text.lowercased() }
    }
}
