internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages
internal import Payments

/// The page of one payment that the person has received, and the form that refunds it.
struct PaymentPages: Sendable {
    let gate: WebGate
    let ledger: Ledger

    @Sendable func show(_ visit: WebVisit) async throws -> Response {
        page(try await session(of: visit), visit).response(for: visit)
    }

    /// Refunds a payment. A resubmitted form has the same key and moves no money twice.
    @Sendable func refund(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let session = try await session(of: visit)
        let text = form.fields.typed("amount")
        let key = try form.fields.keyAtEnd()
        let currency = session.amount.currency
        guard let text, let amount = Money(typed: text, currency: currency),
            Money.allowedRequest.contains(amount.minorUnits)
        else {
            let problem = "\"\(text?.prefix(32) ?? "")\" is no amount. Nothing was refunded."
            return page(session, visit, problem: problem).response(for: visit, status: .badRequest)
        }
        let reply: CommandReply<RefundPayment.Outcome>
        do {
            // If the key has an answer, this is a replay and needs no fresh login.
            let known = Answer.Key(user: visit.user, command: RefundPayment.name, key: key)
            if try await ledger.answer(known) == nil { try visit.requireFresh(for: "A refund") }
            reply = try await submit(session, amount, key, visit)
        } catch is LedgerError {
            return unknownOutcome(session, amount, key, visit)
        }
        switch reply.outcome {
        case .success:
            return gate.redirect(to: WebPath.payment(session.id), saying: .refunded)
        case .failure(let refusal):
            let problem = refusal.problem
            return page(
                try await self.session(of: visit),
                visit,
                problem: "\(problem.detail) Nothing was refunded."
            )
            .response(for: visit, status: .init(code: problem.status))
        }
    }

    private func submit(
        _ session: Session,
        _ amount: Money,
        _ key: IdempotencyKey,
        _ visit: WebVisit
    ) async throws(LedgerError) -> CommandReply<RefundPayment.Outcome> {
        try await ledger.submit(
            RefundPayment(session: session.id, payee: visit.user, amount: amount.minorUnits),
            as: KeyedRequest(visit, key, .refund(session.id, amount: amount.minorUnits))
        )
    }

    /// Returns the session in the address. Throws 404 if it is missing or another payee's.
    private func session(of visit: WebVisit) async throws -> Session {
        let missing = Problem(.notFound, detail: "You have no such payment.")
        guard let id = visit.context.parameters.get("sid").flatMap({ SessionID(rawValue: $0) })
        else { throw missing }
        guard case .success(let session) = try await ledger.session(id, visibleTo: visit.user),
            session.payee == visit.user
        else { throw missing }
        return session
    }

    // MARK: The page

    private func page(_ session: Session, _ visit: WebVisit, problem: String? = nil) -> WebPage {
        let currency = session.amount.currency
        func money(_ minorUnits: Int64) -> HTML {
            "\(Money(minorUnits: minorUnits, currency: currency))"
        }
        var facts: [(String, HTML)] = [("State", session.chip)]
        if let places = session.figures {
            let name = places.sale == nil ? "Shares" : "Places"
            facts.append((name, "\(places.paid) of \(places.places) paid"))
            // Each share is refunded on its own page.
            let links = places.paidShares.map { share in
                "<a href=\"\(WebPath.payment(share))\"><code>\(share.rawValue)</code></a><br>"
                    as HTML
            }
            if !links.isEmpty { facts.append(("Paid shares", "\(links)")) }
        }
        if let paidAt = session.paidAt { facts.append(("Paid", visit.zone.time(paidAt))) }
        if session.paidAt != nil {
            facts.append(("Earnings", money(session.received)))
        } else {
            facts.append(("Requested", money(session.amount.minorUnits)))
        }
        if let tip = session.tip, tip > 0 { facts.append(("Tip in it", money(tip))) }
        if session.refunded > 0 {
            facts.append(("Refunded", money(-session.refunded)))
            facts.append(("Kept", money(session.received - session.refunded)))
        }
        if let memo = session.memo { facts.append(("For what", "<bdi>\(memo)</bdi>")) }
        if let reference = session.reference {
            facts.append(("Reference", "<bdi>\(reference)</bdi>"))
        }
        facts.append(("Id", "<code>\(session.id.rawValue)</code>"))
        let rows = facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" as HTML }
        return WebPage(
            title: "Payment",
            section: .earnings,
            banner: problem.map { WebPage.Banner($0, isBad: true) },
            content: """
                <section class="panel"><dl>\(rows)</dl></section>
                \(refundPanel(session, visit))
                <p><a href="\(WebPath.earnings)">All earnings</a></p>
                """
        )
    }

    private func refundPanel(_ session: Session, _ visit: WebVisit) -> HTML? {
        let left = session.received - session.refunded
        guard session.paidAt != nil, left > 0, session.figures == nil else { return nil }
        let path = WebPath.payment(session.id)
        let all = Money(minorUnits: left, currency: session.amount.currency)
        let form = visit.form(
            to: "\(path)/refund",
            style: "line",
            """
            \(HTML.hidden("key", IdempotencyKey.random().rawValue))
            <label>Amount<input name="amount" value="\(all.decimalText)" required \
            inputmode="decimal" autocomplete="off" maxlength="16"></label>
            <button class="danger">Refund</button>
            """
        )
        let content: HTML =
            visit.isFresh
            ? """
            \(form)
            <p class="quiet">The payer gets the money at once. It cannot be undone.</p>
            """
            : visit.freshLogin(for: "A refund", to: path)
        return """
            <section class="panel" id="refund">\
            <h2>Refund <small>\(all) is left</small></h2>\(content)</section>
            """
    }

    /// Returns the page for a refund with an unknown outcome. Its form resubmits the same key.
    private func unknownOutcome(
        _ session: Session,
        _ amount: Money,
        _ key: IdempotencyKey,
        _ visit: WebVisit
    ) -> Response {
        WebPage.unknownOutcome(
            "Refund",
            section: .earnings,
            "It is not known whether \(amount) was refunded. Do not refund it elsewhere before "
                + "this is found out.",
            again: "\(WebPath.payment(session.id))/refund",
            "\(HTML.hidden("key", key.rawValue))\(HTML.hidden("amount", amount.decimalText))",
            for: visit
        )
    }
}

extension Session {
    /// The amount paid, in minor units, including the tip.
    fileprivate var received: Int64 { amount.minorUnits + (tip ?? 0) }

    /// The state as a label for people.
    var chip: HTML {
        switch state {
        case .created, .advertising, .locked: .chip("◌", "Open")
        case .paid where refunded == received: .chip("↩", "Refunded", "back")
        case .paid where refunded > 0: .chip("↩", "Partly refunded", "back")
        case .paid: .chip("✓", "Paid", "good")
        case .expired: .chip("◷", "Expired")
        case .cancelled: .chip("✕", "Cancelled")
        }
    }
}
