internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import LedgerStore
internal import Pages

/// The deposits in a person's wallet: a form that leads to the provider's page, and a list of the
/// deposits with their states.
struct DepositPages: Sendable {
    /// The maximum number of deposits on a page.
    private static let rowLimit = 15
    /// The refresh interval of the wallet page in seconds while a deposit is open.
    static let refreshInterval = 5

    let gate: WebGate
    let funding: FundingOperations
    let store: any Store

    // MARK: Forms

    /// Opens a deposit and redirects to the page on which it is paid. A resubmitted form has the
    /// same key and leads to the same deposit.
    @Sendable func add(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let text = form.fields.typed("amount")
        let key = try form.fields.keyAtEnd()
        guard let amount = FundingOperations.amount(text, atLeast: funding.options.depositMinimum)
        else {
            return gate.redirect(to: WebPath.wallet, saying: .malformedDeposit)
        }
        do {
            let (reply, secret) = try await funding.open(
                amount,
                reference: nil,
                presentation: .hosted,
                as: KeyedRequest(visit, key, .deposit(amount, reference: nil, .hosted))
            )
            switch reply.outcome {
            case .success(let id):
                return paymentRedirect(
                    visit,
                    to: try await funding.intentReply(id, of: visit.user, secret)
                )
            case .failure(let refusal):
                let notice: WebNotice =
                    switch refusal.reason {
                    case .depositTooLarge, .walletFull: .depositLimit
                    case .tooManyOpenDeposits, .tooManyDeposits: .tooManyDeposits
                    default: throw refusal.problem  // SAFETY: all others get the error page.
                    }
                return gate.redirect(to: WebPath.wallet, saying: notice)
            }
        } catch let problem as Problem where problem.code == ErrorCode.providerRefused.rawValue {
            return gate.redirect(to: WebPath.wallet, saying: .depositRefused)
        } catch let error where error is LedgerError || error is ProblemWithHeaders {
            return unknownOutcome(amount, key, visit)
        }
    }

    /// Returns a reply that leads to the page on which a deposit is paid. If there is no such page,
    /// redirects to the wallet.
    private func paymentRedirect(_ visit: WebVisit, to intent: IntentReply) -> Response {
        if let page = intent.checkoutURL {
            let origins = funding.pageOrigins + [gate.site.origin]
            return WebPage.providerRedirect(
                to: page,
                allowing: origins,
                section: .wallet,
                for: visit,
                in: visit.language
            )
        }
        let isAdded = intent.status == .succeeded
        return gate.redirect(to: WebPath.wallet, saying: isAdded ? .moneyAdded : .depositUnpayable)
    }

    private func unknownOutcome(_ amount: Money, _ key: IdempotencyKey, _ visit: WebVisit)
        -> Response
    {
        let words = visit.language.wallet
        return WebPage.unknownOutcome(
            words.addMoney,
            section: .wallet,
            words.pageUnknown.filled(visit.language.text(amount)),
            again: WebPath.deposits,
            "\(HTML.hidden("key", key.rawValue))\(HTML.hidden("amount", amount.decimalText))",
            for: visit,
            in: visit.language
        )
    }

    /// Redirects to the payment page of a deposit that is already open.
    @Sendable func pay(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        try form.fields.end()
        let id = try FundingPage.id(in: visit.context)
        let deposit: Deposit = try await funding.subject(id, of: visit.user)
        let page = try await funding.providerForCall(by: visit.user)?.refreshNow(id)
        guard deposit.body.presentation == .hosted else { throw Refusal(.unknownRecord).problem }
        return paymentRedirect(visit, to: try await funding.intentReply(id, of: visit.user, page))
    }

    @Sendable func cancel(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        try form.fields.end()
        do {
            _ = try await funding.cancelDeposit(FundingPage.id(in: visit.context), of: visit.user)
            return gate.redirect(to: WebPath.wallet, saying: .depositCancelled)
        } catch let problem as Problem where problem.code == ErrorCode.intentSettled.rawValue {
            return gate.redirect(to: WebPath.wallet, saying: .depositUnpayable)
        }
    }

    // MARK: Panels of the wallet page

    /// Returns the deposit panels of a person's wallet. `content` is `nil` if deposits are not
    /// offered to this person. `isWaiting` is true if a deposit in the list is open.
    ///
    /// - Parameter cursor: The last deposit of the previous page, from the link to this page.
    func panels(
        for visit: WebVisit,
        after cursor: String?
    ) async throws -> (content: HTML?, isWaiting: Bool) {
        guard visit.allows(.payer), funding.isOpen(to: visit.user) else { return (nil, false) }
        let page = try FundingPage(cursor: cursor, limit: Self.rowLimit)
        let deposits = try await funding.refreshedDeposits(of: visit.user, page)
        let words = visit.language.wallet
        let rows = deposits.map { row($0, visit) }
        let columns = [
            (words.when, ""), (words.amount, "n"), (words.state, ""), (words.act, "do"),
        ]
        let list: HTML? =
            rows.isEmpty
            ? nil
            : """
            <section class="panel" id="deposits"><h2>\(words.deposits)</h2>
            \(HTML.list(columns, rows))\
            \(page.older(than: deposits, on: WebPath.wallet, words.older))</section>
            """
        let terms = try await store.user(id: visit.user, orLogin: "")?.terms
        return ("\(addPanel(visit, terms))\(list)", deposits.contains { $0.state.isOpen })
    }

    private func addPanel(_ visit: WebVisit, _ terms: User.Terms?) -> HTML {
        let words = visit.language.wallet
        func money(_ cents: Int64) -> String {
            visit.language.text(Money(minorUnits: cents, currency: FundingOperations.currency))
        }
        let options = funding.options
        let form = visit.form(
            to: WebPath.deposits,
            style: "line",
            """
            \(HTML.hidden("key", IdempotencyKey.random().rawValue))
            <label>\(words.amountInDollars)<input name="amount" required inputmode="decimal" \
            autocomplete="off" maxlength="16"></label>
            <button class="main">\(words.addMoney)</button>
            """
        )
        let limits = words.limits.filled(
            money(options.depositMinimum),
            money(terms?.depositMaximum ?? options.depositMaximum),
            "\(DepositLimits.hourly)",
            "\(DepositLimits.open)",
            money(terms?.balanceMaximum ?? options.balanceMaximum)
        )
        return """
            <section class="panel" id="add"><h2>\(words.addMoney)</h2>\(form)
            <p class="quiet">\(funding.stripe == nil ? words.development : words.byCard) \
            \(limits)</p>
            </section>
            """
    }

    private func row(_ deposit: Deposit, _ visit: WebVisit) -> HTML {
        let (zone, words) = (visit.localizedZone, visit.language.wallet)
        let error = deposit.body.error.map { error -> HTML in
            "<br><span class=\"quiet\"\(WebPage.spoken(.english))>\(error.message)</span>"
        }
        let end = HTML.filled(words.until, zone.time(deposit.body.expiresAt))
        let until: HTML? =
            Self.isPayable(deposit) ? "<br><span class=\"quiet\">\(end)</span>" : nil
        return """
            <tr><td>\(zone.time(deposit.createdAt))</td>\
            <td class="n">\(visit.language.text(deposit.amount))</td>\
            <td>\(Self.chip(of: deposit, words))\(until)\(error)</td>\
            <td class="do">\(actions(deposit, visit))</td></tr>

            """
    }

    private static func chip(of deposit: Deposit, _ words: WalletWords) -> HTML {
        switch deposit.state {
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction:
            .chip("◌", words.waiting)
        case .processing: .chip("◌", words.confirming)
        case .held: .chip("◌", words.held)
        case .succeeded: .chip("✓", words.added, "good")
        case .failed: .chip("!", words.failed, "bad")
        case .canceled: .chip("✕", words.cancelled)
        }
    }

    /// Returns true if the payer can still pay or cancel the deposit.
    private static func isPayable(_ deposit: Deposit) -> Bool {
        switch deposit.state {
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction: true
        case .processing, .succeeded, .failed, .canceled, .held: false
        }
    }

    private func actions(_ deposit: Deposit, _ visit: WebVisit) -> HTML? {
        guard Self.isPayable(deposit) else { return nil }
        let path = "\(WebPath.deposits)/\(deposit.id)"
        let language = visit.language
        let amount = language.text(deposit.amount)
        let what = "<span class=\"visually-hidden\"> \(amount)</span>" as HTML
        let pay: HTML? =
            deposit.body.presentation == .hosted
            ? visit.form(
                to: "\(path)/pay",
                "<button class=\"plain\">\(language.pay.pay)\(what)</button>"
            ) : nil
        let cancel = visit.form(
            to: "\(path)/cancel",
            "<button class=\"danger\">\(language.wallet.cancel)\(what)</button>"
        )
        return "\(pay) \(cancel)"
    }
}

extension FundingPage {
    /// The query parameter with the cursor. The page shows the records older than the cursor's.
    static let field = "before"

    /// Returns the link to the next page; `nil` on the last page.
    ///
    /// - Parameter path: The address of the first page, without parameters.
    func older<Body: FundingBody>(
        than subjects: [FundingRecord<Body>],
        on path: String,
        _ word: String = "Older"
    ) -> HTML? {
        cursor(after: subjects).map {
            HTML.more("\(path)?\(Self.field)=\($0)#\(Body.kind)s", word)
        }
    }
}

extension FundingOperations {
    /// The origins of the provider's pages.
    var pageOrigins: [String] { stripe?.pageOrigins ?? [] }

    /// Returns the sentence for an amount that is too small or too large.
    static func amountRule(atLeast least: Int64) -> String {
        let (smallest, largest) = (
            Money(minorUnits: least, currency: currency),
            Money(minorUnits: Money.allowedRequest.upperBound, currency: currency)
        )
        return "The amount must be between \(smallest) and \(largest)."
    }

    /// Parses a typed amount; `nil` if it is malformed, too small or too large.
    static func amount(_ text: String?, atLeast least: Int64) -> Money? {
        guard let text, let amount = Money(typed: text, currency: currency),
            amount.minorUnits >= least, Money.allowedRequest.contains(amount.minorUnits)
        else { return nil }
        return amount
    }
}
