internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages

/// The merchant's payouts to a bank: the status at the payment provider, the withdrawals, and the
/// form for a new withdrawal.
struct PayoutPages: Sendable {
    /// The maximum number of withdrawals on a page.
    private static let rowLimit = 50

    let gate: WebGate
    let funding: FundingOperations

    // MARK: Set-up

    /// Creates a new link to the provider's pages and redirects to it. Showing the payouts page
    /// creates no link; submitting this form does.
    @Sendable func setUp(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        try form.fields.end()
        try visit.requireFresh(for: "A bank account")
        let link = try await funding.setUpLink(for: visit.user, at: gate.site.origin)
        let origins = funding.pageOrigins + [gate.site.origin]
        return WebPage.providerRedirect(
            to: link.url,
            allowing: origins,
            section: .payouts,
            for: visit
        )
    }

    // MARK: Withdrawals

    /// Asks for confirmation of a withdrawal. This moves no money.
    @Sendable func confirm(_ visit: WebVisit) async throws -> Response {
        _ = try funding.source(for: visit.user)
        var query = try QueryParameters(page: visit.request, "amount")
        let text = query.typed("amount")?.replacing("+", with: " ")
        guard let amount = FundingOperations.amount(text, atLeast: funding.options.payouts.minimum)
        else {
            return gate.redirect(to: WebPath.payouts, saying: .malformedWithdrawal)
        }
        let form = visit.form(
            to: WebPath.withdrawal,
            """
            \(HTML.hidden("key", IdempotencyKey.random().rawValue))\
            \(HTML.hidden("amount", amount.decimalText))
            <button class="main">Withdraw \(amount)</button>
            """
        )
        let path = "\(WebPath.withdrawal)?amount=\(amount.decimalText)"
        return WebPage(
            title: "Withdraw",
            section: .payouts,
            content: """
                <section class="panel narrow"><h2>Withdraw \(amount) to your bank?</h2>
                <p>The money leaves the wallet at once.</p>
                \(visit.isFresh ? form : visit.freshLogin(for: "A withdrawal", to: path))
                <p><a href="\(WebPath.payouts)">Withdraw nothing</a></p></section>
                """
        )
        .response(for: visit)
    }

    /// Withdraws money from the wallet. A resubmitted form has the same key and withdraws once.
    @Sendable func withdraw(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let text = form.fields.typed("amount")
        let key = try form.fields.keyAtEnd()
        guard let amount = FundingOperations.amount(text, atLeast: funding.options.payouts.minimum)
        else {
            return gate.redirect(to: WebPath.payouts, saying: .malformedWithdrawal)
        }
        do {
            // If the key has an answer, this is a replay and needs no fresh login.
            let known = Answer.Key(user: visit.user, command: RequestWithdrawal.name, key: key)
            if try await funding.ledger.answer(known) == nil {
                try visit.requireFresh(for: "A withdrawal")
            }
            let reply = try await funding.withdraw(
                amount,
                to: nil,
                as: KeyedRequest(visit, key, .withdrawal(amount, to: nil))
            )
            guard case .failure(let refusal) = reply.outcome else {
                return gate.redirect(to: WebPath.payouts, saying: .withdrawn)
            }
            let page = try await page(visit, problem: Self.sentence(refusal))
            return page.response(for: visit, status: .init(code: refusal.problem.status))
        } catch let error where error is LedgerError || error is ProblemWithHeaders {
            return unknownOutcome(amount, key, visit)
        }
    }

    private static func sentence(_ refusal: Refusal) -> String {
        let end = "Nothing was taken."
        if refusal.reason == .payeeNotOnboarded { return "Payouts are not set up yet. \(end)" }
        guard let available = refusal.available else { return "\(refusal.problem.detail) \(end)" }
        let money = Money(minorUnits: available, currency: FundingOperations.currency)
        return refusal.reason == .heldBalance
            ? "\(money) can be withdrawn now: what came in lately cannot yet. \(end)"
            : "The wallet has \(money). \(end)"
    }

    private func unknownOutcome(_ amount: Money, _ key: IdempotencyKey, _ visit: WebVisit)
        -> Response
    {
        WebPage.unknownOutcome(
            "Withdraw",
            section: .payouts,
            "It is not known whether \(amount) was taken from the wallet. Do not withdraw it again "
                + "before this is found out.",
            again: WebPath.withdrawal,
            "\(HTML.hidden("key", key.rawValue))\(HTML.hidden("amount", amount.decimalText))",
            for: visit
        )
    }

    @Sendable func cancel(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        try form.fields.end()
        let id = try FundingPage.id(in: visit.context)
        switch try await funding.cancelWithdrawal(id, of: visit.user) {
        case .success: return gate.redirect(to: WebPath.payouts, saying: .withdrawalCancelled)
        case .failure(let refusal) where refusal.reason == .withdrawalTooLate:
            return gate.redirect(to: WebPath.payouts, saying: .withdrawalTooLate)
        case .failure(let refusal): throw refusal.problem
        }
    }

    // MARK: The page

    @Sendable func show(_ visit: WebVisit) async throws -> Response {
        var query = try QueryParameters(page: visit.request, FundingPage.field)
        let cursor = query.text(FundingPage.field)
        return try await page(visit, after: cursor).response(for: visit)
    }

    private func page(
        _ visit: WebVisit,
        after cursor: String? = nil,
        problem: String? = nil
    ) async throws -> WebPage {
        _ = try funding.source(for: visit.user)
        let status = try await funding.refreshedStatus(of: visit.user)
        let list = try FundingPage(cursor: cursor, limit: Self.rowLimit)
        let withdrawals: [Withdrawal] = try await funding.newest(of: visit.user, list)
        let parts = try await funding.withdrawable(of: visit.user)
        return WebPage(
            title: "Payouts",
            section: .payouts,
            banner: problem.map { WebPage.Banner($0, isBad: true) },
            asOf: visit.zone.time(visit.now, hasFullDate: true),
            policy: .formsRedirecting(to: funding.pageOrigins),
            content: """
                \(statusPanel(status, visit))
                \(status.status == .active ? formPanel(parts) : nil)
                \(listPanel(withdrawals, list, visit))
                """
        )
    }

    private func statusPanel(_ status: ConnectStatusReply, _ visit: WebVisit) -> HTML {
        let chip: HTML =
            switch status.status {
            case .notSetUp: .chip("◌", "Not set up")
            case .pendingVerification: .chip("◷", "Pending verification")
            case .active: .chip("✓", "Active", "good")
            case .restricted: .chip("!", "Restricted", "bad")
            }
        // These are the provider's field names, such as `individual.id_number`.
        let due = status.currentlyDue.map { name -> HTML in
            "<li>\(name.replacing("_", with: " ").replacing(".", with: " · "))</li>"
        }
        let asks: HTML? =
            due.isEmpty ? nil : "<p>The payment provider still asks for:</p><ul>\(due)</ul>"
        let deadline = status.currentDeadline.map { time -> HTML in
            "<p>It wants it by \(visit.zone.time(time.value, hasFullDate: true)).</p>"
        }
        let reason = status.disabledReason.map { reason -> HTML in
            "<p>Payouts are stopped: <code>\(reason)</code></p>"
        }
        let label =
            switch status.status {
            case .notSetUp: "Set up payouts"
            case .pendingVerification, .restricted: "Go on with the set-up"
            case .active: "Change the bank account"
            }
        let button = visit.form(
            to: "\(WebPath.payouts)/setup",
            "<button class=\"plain\">\(label)</button>"
        )
        return """
            <section class="panel" id="status"><h2>Your bank account</h2><p>\(chip)</p>
            \(asks)\(deadline)\(reason)
            \(visit.isFresh ? button : visit.freshLogin(for: label, to: WebPath.payouts))
            <p class="quiet">It is set up on the payment provider's own pages. We never see the
            account's number.</p></section>
            """
    }

    private func formPanel(_ parts: Withdrawable) -> HTML {
        func money(_ cents: Int64) -> Money {
            Money(minorUnits: cents, currency: FundingOperations.currency)
        }
        let (held, owed) = (parts.heldCents.value, parts.owedCents.value)
        let hold: HTML? =
            held > 0
            ? """
             \(money(held)) came in within the last \(funding.options.payouts.holdHours) hours, \
            and cannot be withdrawn yet.
            """ : nil
        let debt: HTML? =
            owed > 0
            ? " \(money(owed)) that the payment provider took back is settled first." : nil
        let least = money(funding.options.payouts.minimum)
        return """
            <section class="panel" id="withdraw"><h2>Withdraw <small>\
            \(money(parts.availableCents.value)) now</small></h2>
            <form method="get" action="\(WebPath.withdrawal)" class="line">
            <label>Amount in dollars<input name="amount" required inputmode="decimal" \
            autocomplete="off" maxlength="16"></label>
            <button class="plain">Withdraw …</button></form>
            <p class="quiet">\(least) at least.\(hold)\(debt)</p></section>
            """
    }

    private func listPanel(
        _ withdrawals: [Withdrawal],
        _ page: FundingPage,
        _ visit: WebVisit
    ) -> HTML {
        guard !withdrawals.isEmpty else {
            return """
                <section class="panel"><h2>Withdrawals</h2><div class="empty"><b>None yet</b>\
                Each will be here with its way to the bank.</div></section>
                """
        }
        let columns = [
            ("When", ""), ("Amount", "n"), ("State", ""), ("At the bank", ""), ("Do", "do"),
        ]
        return """
            <section class="panel" id="withdrawals"><h2>Withdrawals</h2>
            \(HTML.list(columns, withdrawals.map { row(WithdrawalReply($0), visit) }))\
            \(page.older(than: withdrawals, on: WebPath.payouts))</section>
            """
    }

    private func row(_ withdrawal: WithdrawalReply, _ visit: WebVisit) -> HTML {
        let amount = Money(minorUnits: withdrawal.amountCents.value, currency: withdrawal.currency)
        let reason = withdrawal.reasonText.map { text -> HTML in
            "<br><span class=\"quiet\">\(text)</span>"
        }
        let arrival = withdrawal.arrivalDate.map { time -> HTML in
            "\(HTML.label("at the bank"))\(visit.zone.time(time.value, hasFullDate: true))"
        }
        let cancel: HTML? =
            withdrawal.status == .pending
            ? visit.form(
                to: "\(WebPath.payouts)/\(withdrawal.withdrawalID)/cancel",
                """
                <button class="danger">Cancel<span class="visually-hidden"> \(amount)</span>\
                </button>
                """
            ) : nil
        return """
            <tr><td>\(visit.zone.time(withdrawal.createdAt.value))</td><td class="n">\(amount)</td>\
            <td>\(Self.chip(withdrawal.status))\(reason)</td><td>\(arrival)</td>\
            <td class="do">\(cancel)</td></tr>

            """
    }

    private static func chip(_ status: WithdrawalStatus) -> HTML {
        switch status {
        case .pending: .chip("◌", "Pending")
        case .processing: .chip("◷", "Processing")
        case .paid: .chip("✓", "Paid", "good")
        case .failed: .chip("!", "Failed: the money came back", "bad")
        case .cancelled: .chip("✕", "Cancelled")
        }
    }
}
