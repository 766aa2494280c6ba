import ArgumentParser
import GotchuAPI
import GotchuCore

/// The condition that `gotchu-ctl wait` waits for.
enum WaitCondition: ExpressibleByArgument, Equatable, Sendable {
    /// Requests and payments can be made.
    case ready
    /// A presence has the verdict `tap` or `near`, and the payment server knows its session.
    case near
    /// A presence has the verdict `tap`.
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

    /// A Boolean that is true if the condition depends on the presences heard.
    var needsPresences: Bool { self == .near || self == .tap }

    /// The state of a condition after an event.
    enum Evaluation: Equatable, Sendable {
        case holds
        /// The condition cannot become true any more; the text is the reason.
        case impossible(String)
        /// The object does not exist, or this user may not see it.
        case notFound
        /// The condition is not true yet, or the event does not concern it.
        case pending
    }

    /// Evaluates the condition after an event that was already applied to `list`.
    func evaluate(_ event: Event, list: PresenceList) -> Evaluation {
        switch self {
        case .ready:
            switch event {
            case .snapshot(let snapshot): snapshot.status.isReady ? .holds : .pending
            case .statusChanged(let status): status.isReady ? .holds : .pending
            case .presenceChanged, .presenceLost, .requestChanged, .paymentChanged, .lagged:
                .pending
            }
        case .near:
            list.sorted.contains { [.tap, .near].contains($0.verdict) && $0.session != nil }
                ? .holds : .pending
        case .tap: list.sorted.contains { $0.verdict == .tap } ? .holds : .pending
        case .paid(let id):
            switch event {
            case .snapshot(let snapshot): evaluate(id, snapshot)
            case .requestChanged(let request): request.matches(id) ? evaluate(request) : .pending
            case .paymentChanged(let payment): payment.id == id ? evaluate(payment) : .pending
            case .statusChanged, .presenceChanged, .presenceLost, .lagged: .pending
            }
        }
    }

    /// Returns the sentence for a condition that did not come true in time.
    func failure(within time: String) -> String {
        switch self {
        case .ready: "gotchud was not ready within \(time)."
        case .near: "No till was near within \(time)."
        case .tap: "No till was at tap distance within \(time)."
        case .paid(let id): "\(id.printable) was not paid within \(time); it still may be."
        }
    }

    private func evaluate(_ id: String, _ snapshot: Event.Snapshot) -> Evaluation {
        if let request = snapshot.requests.first(where: { $0.matches(id) }) {
            return evaluate(request)
        }
        if let payment = snapshot.payments.first(where: { $0.id == id }) {
            return evaluate(payment)
        }
        return .notFound
    }

    private func evaluate(_ request: RequestView) -> Evaluation {
        switch request.state {
        case .paid: .holds
        case .expired, .cancelled: .impossible("The request is \(request.state.rawValue).")
        case .advertising, .locked, .unknown: .pending
        }
    }

    private func evaluate(_ payment: PaymentView) -> Evaluation {
        switch payment.state {
        case .paid: .holds
        case .declined: .impossible("Not paid: \(payment.detail.printable)")
        case .locking, .sending, .unknown: .pending
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
