import FoundationEssentials
import GotchuAPI
import GotchuCore

/// The daemon's report for finding a fault. It is redacted before it leaves the process.
struct BugReport {
    let status: StatusReply
    let configuration: [(key: String, value: String)]
    let metrics: String
    let requests: [RequestView]
    let payments: [PaymentView]
    let presences: [PresenceView]
    let log: [String]
    /// The token of the logged-in user. It is removed from the text.
    let token: String?

    /// The report's sections.
    var text: String {
        var redactor = Redactor()
        redactor.hide(token, as: .token)
        for request in requests {
            redactor.hide(request.memo, as: .memo)
            redactor.hide(request.id.rawValue, as: .id)
        }
        for payment in payments {
            redactor.hide(payment.id, as: .id)
            redactor.hide(payment.sid.rawValue, as: .id)
            redactor.hide(payment.payee, as: .name)
            redactor.hide(payment.transferID, as: .id)
        }
        for session in presences.compactMap(\.session) {
            redactor.hide(session.sid.rawValue, as: .id)
            redactor.hide(session.payee, as: .name)
            redactor.hide(session.memo, as: .memo)
        }
        let sections: [(String, [String])] = [
            ("status", Self.lines(of: status)),
            ("configuration", configuration.map { "\($0.key) = \($0.value)" }),
            ("heard now", presences.map(Self.line)),
            ("journal", Self.summary(requests: requests, payments: payments)),
            ("metrics", metrics.split(separator: "\n").map(String.init)),
            ("log, oldest first", log),
        ]
        return sections.map { title, lines in
            let body = lines.isEmpty ? ["(nothing)"] : lines.map { redactor.redact($0) }
            return "== \(title)\n" + body.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    private static func lines(of status: StatusReply) -> [String] {
        String(decoding: JSONEncoder.pretty(status), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    private static func line(_ presence: PresenceView) -> String {
        let level = presence.rssiDBm.map { "\($0) dBm" } ?? "no level"
        return "\(presence.eid) \(presence.verdict.rawValue) \(level) by \(presence.adapter): "
            + presence.reason
    }

    /// Lists the requests and payments with states, amounts and times, but without parties and
    /// purposes.
    private static func summary(requests: [RequestView], payments: [PaymentView]) -> [String] {
        requests.map { "request \($0.state.rawValue) \($0.amount) \($0.createdAt.iso8601)" }
            + payments.map { payment in
                let kind = payment.kind?.rawValue ?? "payment"
                return "\(kind) \(payment.state.rawValue) \(payment.amount) "
                    + payment.createdAt.iso8601
            }
    }
}
