internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Outbox
internal import Pages

/// The person's own webhooks: pending and dead deliveries, and a form to send dead ones again. An
/// endpoint without an owner belongs to the operator and is not shown.
struct WebhookPages: Sendable {
    /// The maximum number of pending, and of dead, deliveries shown for one endpoint.
    private static let rowLimit = 25

    let gate: WebGate

    @Sendable func list(_ visit: WebVisit) async throws -> Response {
        let endpoints = try await gate.outbox.endpoints(of: visit.user)
        var panels: [HTML] = []
        for endpoint in endpoints where !endpoint.isBeingRemoved {
            let waiting = try await gate.outbox.backlog(
                of: endpoint.id,
                dead: false,
                limit: Self.rowLimit
            )
            let dead = try await gate.outbox.backlog(
                of: endpoint.id,
                dead: true,
                limit: Self.rowLimit
            )
            panels.append(panel(endpoint, waiting, dead, visit))
        }
        let none: HTML = """
            <section class="panel"><div class="empty"><b>No webhooks</b>\
            The server's operator adds them: gotchu-server webhooks add</div></section>
            """
        return WebPage(
            title: "Webhooks",
            section: .webhooks,
            content: panels.isEmpty ? none : "\(panels)"
        )
        .response(for: visit)
    }

    /// Sends dead deliveries of an endpoint again: the one of an event, or all.
    @Sendable func resend(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let event = form.fields.text("event")
        try form.fields.end()
        let id = visit.context.parameters.get("endpoint") ?? ""
        let endpoints = try await gate.outbox.endpoints(of: visit.user)
        guard endpoints.contains(where: { $0.id == id && !$0.isBeingRemoved }) else {
            throw Problem(.notFound, detail: "You have no such webhook.")
        }
        let count = try await gate.outbox.resend(to: id, event: event, at: visit.now)
        return gate.redirect(
            to: WebPath.webhooks,
            saying: count > 0 ? .webhooksResent : .nothingResent
        )
    }

    // MARK: The page

    private func panel(
        _ endpoint: WebhookEndpoint,
        _ waiting: [WebhookBacklogEntry],
        _ dead: [WebhookBacklogEntry],
        _ visit: WebVisit
    ) -> HTML {
        let chip: HTML =
            if let reason = endpoint.disabled {
                "\(HTML.chip("!", "Stopped", "bad"))<p class=\"quiet\">\(reason)</p>"
            } else if waiting.contains(where: { $0.error != nil }) {
                .chip("!", "Not answering", "bad")
            } else {
                .chip("✓", "Working", "good")
            }
        let all = "<button class=\"plain\">Send all \(endpoint.deadCount) again</button>" as HTML
        let isEmpty = waiting.isEmpty && dead.isEmpty
        return """
            <section class="panel"><h2>\(endpoint.url)</h2>\(chip)
            \(isEmpty ? "<p class=\"quiet\">Everything has arrived.</p>" : nil)
            \(table("Waiting", endpoint.pendingCount, waiting, ("Next try", "end")) {
                "\(HTML.label("next"))\(visit.zone.time($0.nextTryAt))"
            })
            \(table("Given up", endpoint.deadCount, dead, ("Do", "do")) {
                again(endpoint, $0, visit)
            })
            \(dead.isEmpty ? nil : visit.form(to: Self.path(of: endpoint), all))</section>
            """
    }

    private static func path(of endpoint: WebhookEndpoint) -> String {
        "\(WebPath.webhooks)/\(endpoint.id)/resend"
    }

    private func again(
        _ endpoint: WebhookEndpoint,
        _ entry: WebhookBacklogEntry,
        _ visit: WebVisit
    ) -> HTML {
        visit.form(
            to: Self.path(of: endpoint),
            """
            \(HTML.hidden("event", entry.id.event))<button class="plain">Send again\
            <span class="visually-hidden"> \(entry.id.event)</span></button>
            """
        )
    }

    /// Returns a table of deliveries; `nil` if there are none.
    ///
    /// - Parameters:
    ///   - count: The number of all deliveries, shown or not.
    ///   - last: The title of the last column, and the class of its cells.
    ///   - cell: Returns the last cell of a row: the time of the next attempt, or a form.
    private func table(
        _ title: String,
        _ count: Int64,
        _ entries: [WebhookBacklogEntry],
        _ last: (title: String, style: String),
        cell: (WebhookBacklogEntry) -> HTML
    ) -> HTML? {
        guard !entries.isEmpty else { return nil }
        let rows = entries.map { entry -> HTML in
            """
            <tr><td class="what">\(entry.kind)<br><small>\(entry.record)</small></td>\
            <td class="n">\(HTML.label("tried"))\(entry.attempts)</td>\
            <td class="what">\(entry.error ?? "not tried yet")</td>\
            <td class="\(last.style)">\(cell(entry))</td></tr>

            """
        }
        let columns = [(title, "what"), ("Tries", "n"), ("Last answer", "what"), last]
        let more: HTML? =
            count > Int64(entries.count)
            ? "<p class=\"quiet\">\(count - Int64(entries.count)) more</p>" : nil
        return "\(HTML.list(columns, rows, caption: title))\(more)"
    }
}
