import GotchuAPI
import GotchuCore
import Pages

/// The customer's display as text.
struct DisplayDrawing {
    private let lines: [(text: String, style: TextStyle?)]
    /// One line, for output that is not a terminal.
    let summary: String

    /// - Parameter age: The time since the reply was received.
    init(_ reply: DisplayReply, age: Duration = .zero) {
        let reply = age < DisplayState.offlineDelay ? reply : Self.silent(after: reply, age)
        var lines: [(text: String, style: TextStyle?)] = [
            (reply.shop?.shortened ?? "", .dim), ("", nil),
        ]
        func add(_ text: String?, _ style: TextStyle? = nil) {
            if let text { lines.append((text.printable, style)) }
        }
        add(reply.amount, .bold)
        add(reply.tip)
        add(reply.memo?.shortened)
        lines.append(("", nil))
        add(reply.headline, Self.style(of: reply.state))
        add(reply.line)
        add(reply.second?.text, .dim)
        add(reply.note, .yellow)
        lines.append(("", nil))
        add(
            reply.left.map { left in
                "\((.milliseconds(left.milliseconds) - age).countdownText) \(left.label)"
            }
        )
        add(reply.code.map { "\($0.text) \($0.label)" })
        add(reply.payLink?.url)
        self.lines = lines
        summary = [reply.amount, reply.headline, reply.note ?? reply.line]
            .compactMap { $0?.printable }.joined(separator: " · ")
    }

    /// The lines of a frame, centred on a terminal.
    func frame(on terminal: Terminal) -> [String] {
        let (columns, rows) = terminal.size ?? (80, 24)
        let above = max(0, (rows - 1 - lines.count) / 2)
        return Array(repeating: "", count: above)
            + lines.map { text, style in
                let text = text.truncated(to: columns)
                let margin = String(repeating: " ", count: max(0, (columns - text.columns) / 2))
                return margin + terminal.paint(text, style)
            }
    }

    /// The display if no state was received for a while: offline, later closed.
    private static func silent(after last: DisplayReply, _ age: Duration) -> DisplayReply {
        let isClosed = age >= DisplayState.closedDelay || last.state == .closed
        let state: DisplayState = isClosed ? .closed : .offline
        let second = last.second.map(\.language)
        let text = DisplayText(
            DisplayView(state),
            in: [last.language] + (second.map { [$0] } ?? [])
        )
        var reply = DisplayReply(
            build: last.build,
            state: state,
            language: last.language,
            isRightToLeft: last.isRightToLeft,
            headline: text.headline
        )
        reply.line = text.line
        if let words = text.second, let second {
            reply.second = .init(language: second, text: words)
        }
        reply.shop = last.shop
        if state == .offline, last.state.isUnsettled { reply.amount = last.amount }
        return reply
    }

    private static func style(of state: DisplayState) -> TextStyle {
        switch state {
        case .paid: .green
        case .checking, .released, .unavailable, .offline: .yellow
        case .idle, .closed, .preparing, .waiting, .near, .confirming, .expired, .cancelled: .bold
        }
    }
}
