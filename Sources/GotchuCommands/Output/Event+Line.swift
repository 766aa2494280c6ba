import GotchuAPI
import GotchuCore

extension Event {
    /// Renders the event for a person, one item a line: `-->` for a presence, `<--` for a request,
    /// a payment or a refund, `---` for the daemon itself. Of a snapshot, ended ones are left out.
    func lines(at time: Timestamp, on terminal: Terminal) -> [String] {
        let clock = terminal.paint(time.clockText, .dim)
        switch self {
        case .snapshot(let snapshot):
            let first = "\(clock) --- \(snapshot.status.summary.printable)"
            let parts =
                snapshot.sessions.map { Event.presenceChanged($0) }
                + snapshot.requests.filter { !$0.state.isFinal }.map { .requestChanged($0) }
                + snapshot.payments.filter { !$0.state.isFinal }.map { .paymentChanged($0) }
            return [first] + parts.flatMap { $0.lines(at: time, on: terminal) }
        case .statusChanged(let status):
            return ["\(clock) --- \(status.summary.printable)"]
        case .presenceChanged(let presence):
            let verdict = terminal.paint(presence.verdict.rawValue, presence.verdict.style)
            let session = presence.session.map { " \($0.amount) \($0.payee.quotedName)" } ?? ""
            let level = presence.rssiDBm.map { "\($0) dBm" } ?? "? dBm"
            return ["\(clock) --> \(presence.eid) \(verdict) \(level)\(session)"]
        case .presenceLost(let eid):
            return ["\(clock) --> \(eid) gone"]
        case .requestChanged(let request):
            return [
                "\(clock) <-- \(request.eid) request \(request.amount) \(request.state.rawValue)"
                    + " · \(request.reason.printable)"
            ]
        case .paymentChanged(let payment):
            let what =
                payment.kind == .refund
                ? "refund \(payment.amount) of \(payment.sid)"
                : "payment \(payment.amount) to \(payment.payee.quotedName)"
            return [
                "\(clock) <-- \(what) \(payment.state.rawValue) · \(payment.detail.printable)"
            ]
        case .lagged(let missed):
            return ["\(clock) --- \(missed) events were left out: this reader was too slow"]
        }
    }
}

extension Event {
    /// The requests of a snapshot, or the request that has changed.
    var requests: [RequestView] {
        switch self {
        case .snapshot(let snapshot): snapshot.requests
        case .requestChanged(let request): [request]
        case .statusChanged, .presenceChanged, .presenceLost, .paymentChanged, .lagged: []
        }
    }

    /// The payments and refunds of a snapshot, or the one that has changed.
    var payments: [PaymentView] {
        switch self {
        case .snapshot(let snapshot): snapshot.payments
        case .paymentChanged(let payment): [payment]
        case .statusChanged, .presenceChanged, .presenceLost, .requestChanged, .lagged: []
        }
    }
}
