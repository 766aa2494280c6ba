internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Pages
internal import Payments

/// The payer's pages of one request, designed for a phone.
struct PayPage: Sendable {
    /// The EID in the page's address.
    let eid: EID
    /// The session as read for this page. For a group it may be the person's own share.
    let session: Session
    let payee: String
    let now: Timestamp
    let language: Language

    private var words: PayWords { language.pay }

    /// The reload interval, in seconds, while another payer holds the session.
    private static let waiting = 3
    /// The reload interval, in seconds, while an outcome is unknown.
    private static let resolving = 2

    /// The page of a paid request. It does not say who paid. `nil` if the request is not paid.
    private var paidPage: WebPage? {
        guard case .paid = session.state else { return nil }
        return page(words.paid, "<p>\(words.isPaid)</p>", mood: .over)
    }

    /// The page of a request for a person without a login. If the request is paid, this person may
    /// be the payer.
    var loggedOutPage: WebPage {
        if let paidPage { return paidPage }
        let login = WebPath.login(returningTo: WebPath.request(eid))
        let link = "<a class=\"main\" href=\"\(login)\">\(words.logInToPay)</a>" as HTML
        return ended ?? page(words.pay, request(link))
    }

    /// Returns the page for a logged-in person. It has the pay button, or the reason why the person
    /// cannot pay.
    ///
    /// - Parameter balance: The balance in the session's currency; `nil` without a wallet in it.
    func view(for visit: WebVisit, balance: Money?) -> WebPage {
        if session.payee == visit.user {
            return paidPage ?? ended ?? page(words.own, request("<p>\(words.nobodyOwn)</p>"))
        }
        if let paid = paid(by: visit.user) ?? ended { return paid }
        if case .locked(let payer, _) = session.state, payer != visit.user {
            let text: HTML = """
                <p>\(words.somebodyElse)</p>
                <p class="quiet">\(words.autoRefresh)</p>
                """
            return page(words.beingPaid, request(text), mood: .wait, reload: Self.waiting)
        }
        guard visit.allows(.payer) else {
            return page(words.pay, request("<p>\(words.noPayments)</p>"))
        }
        guard let balance else {
            let code = session.amount.currency.rawValue.uppercased()
            let text = words.noWallet.filled(code)
            return page(words.pay, request("<p>\(text)</p>"))
        }
        let missing = session.amount.minorUnits - balance.minorUnits
        guard missing <= 0 else {
            return page(
                words.notEnough,
                request("<p>\(self.missing(missing, words.missing, balance))</p>\(toWallet)")
            )
        }
        return page(words.pay, request(form(for: visit, balance)))
    }

    private func form(for visit: WebVisit, _ balance: Money) -> HTML {
        let tip: HTML? =
            session.tip == nil
            ? nil
            : """
            <label>\(words.tip)<input name="tip" inputmode="decimal" autocomplete="off" \
            maxlength="12" \
            placeholder="\(Money(minorUnits: 0, currency: balance.currency).decimalText)"></label>
            """
        let button = filled(tip == nil ? words.payAmount : words.payWithTip, session.amount)
        let form = visit.form(
            to: WebPath.request(eid),
            """
            \(PaymentForm(for: session).requestFields)\(tip)<button class="main">\(button)</button>
            """
        )
        return "\(form)<p class=\"quiet\">\(filled(words.balanceNow, balance))</p>"
    }

    private func filled(_ text: String, _ amount: Money) -> String {
        text.filled(language.text(amount))
    }

    private func missing(_ amount: Int64, _ text: String, _ balance: Money) -> HTML {
        let rest = language.text(Money(minorUnits: amount, currency: balance.currency))
        return .filled(text, "\(language.text(balance))", "<b>\(rest)</b>")
    }

    private var toWallet: HTML {
        let path = WebPath.wallet(in: session.amount.currency)
        return "<p><a class=\"plain\" href=\"\(path)\">\(words.toWallet)</a></p>"
    }

    /// The page of a session that can no longer be paid; `nil` if it can be paid.
    private var ended: WebPage? {
        switch session.state {
        case .created, .advertising, .locked: nil
        case .paid:
            page(
                words.alreadyPaid,
                "<p>\(words.otherPaid)</p>",
                mood: .over
            )
        // The page does not say that nothing was charged. If only the clock has expired the
        // session, a payment in progress may still be committed.
        case .expired:
            page(
                words.timeIsUp,
                "<p>\(words.expired)</p><p>\(words.askAnew)</p>",
                mood: .over
            )
        case .cancelled:
            page(
                words.cancelled,
                "<p>\(words.wasCancelled)\(uncharged)</p>",
                mood: .over
            )
        }
    }

    /// The sentence that nothing was charged; `nil` for a group with paid shares.
    private var uncharged: HTML? {
        (session.figures?.paid ?? 0) > 0 ? nil : " \(words.nothingCharged)"
    }

    /// Returns the page of a contest desk for a user who cannot enter the contest. Usually the user
    /// has entered it already.
    func closed(_ refusal: Refusal, _ contest: RecordID) -> WebPage {
        let link: HTML = """
            <p><a class="plain" href="\(WebPath.contest(contest))">\(words.theContest)</a></p>
            """
        if refusal.reason == .alreadyJoined {
            return page(words.youAreIn, "\(facts)<p>\(words.haveEntered)</p>\(link)", mood: .good)
        }
        return page(
            words.entriesClosed,
            "\(facts)<p lang=\"en\" dir=\"ltr\">\(refusal.problem.detail)</p>\(link)",
            mood: .over
        )
    }

    // MARK: Results

    /// Returns the page of a session that the user has paid, with this form or another; else `nil`.
    private func paid(by user: UserID) -> WebPage? {
        guard case .paid(let payer, _) = session.state, payer == user else { return nil }
        let back = Money(minorUnits: session.refunded, currency: session.amount.currency)
        let refunded: HTML? =
            session.refunded > 0 ? "<p>\(filled(words.refunded, back))</p>" : nil
        return page(words.youPaid, "\(facts)\(refunded)\(toWallet)", mood: .good)
    }

    /// Returns the page of a confirmed payment.
    func paid(_ outcome: Pay.Outcome, at time: HTML) -> WebPage {
        let balance = Money(minorUnits: outcome.newBalance, currency: session.amount.currency)
        return page(
            words.paid,
            """
            \(facts)
            <p class="quiet">\(time) · \(digits)</p>
            <p>\(filled(words.balanceThen, balance))</p>
            \(toWallet)
            """,
            mood: .good
        )
    }

    /// Returns the page of a payment whose key has no answer.
    ///
    /// - Parameter payment: The payment that this browser has submitted. If the session is open,
    ///   the page has a form that sends it again, with the same key. `nil` if the browser has
    ///   submitted none: the page then has only a link to the request.
    /// - Precondition: `session` was read from the store before the key's answer was read.
    func unknownOutcome(of payment: PaymentForm?, for visit: WebVisit) -> WebPage {
        if let paid = paid(by: visit.user) { return paid }
        // If the session had ended before the answer was read, this payment was not made, and the
        // session refuses it from now on.
        if session.finalReason != nil {
            return page(words.notPaid, "<p>\(words.ended)</p>", mood: .over)
        }
        let again = payment.map { payment -> HTML in
            let fields = payment.resubmissionFields
            let form = visit.form(
                to: WebPath.request(eid),
                "\(fields)<button class=\"main\">\(words.checkNow)</button>"
            )
            return "\(form)<p class=\"quiet\">\(words.samePayment)</p>"
        }
        return page(
            words.outcomeUnknown,
            """
            \(payment.map { facts(adding: $0.tip) })
            <p>\(words.notKnown) <b>\(words.doNotPayAgain)</b></p>
            \(again ?? toRequest(style: "plain"))
            """,
            mood: .wait,
            reload: Self.resolving
        )
    }

    private func toRequest(style: String) -> HTML {
        "<p><a class=\"\(style)\" href=\"\(WebPath.request(eid))\">\(words.viewAgain)</a></p>"
    }

    /// Returns the page of a refusal, with the sentence for its reason.
    func refused(_ refusal: Refusal, for user: UserID) -> WebPage {
        // If the same person has paid with another form, the page says so.
        if let paid = paid(by: user) { return paid }
        let again = toRequest(style: "main")
        if refusal.reason == .alreadyJoined {
            return page(words.youAreIn, "<p>\(words.haveEntered)</p>\(again)", mood: .good)
        }
        let (title, text) = sentences(for: refusal)
        return page(
            title,
            "<p>\(text) <b>\(words.nothingCharged)</b></p>\(again)",
            mood: .bad
        )
    }

    private func sentences(for refusal: Refusal) -> (title: String, text: HTML) {
        func said(_ title: String, _ text: String) -> (String, HTML) { (title, "\(text)") }
        return switch refusal.reason {
        case .insufficientBalance: (words.notEnough, missing(refusal))
        case .sessionExpired: said(words.timeIsUp, words.hasExpired)
        case .sessionCancelled: said(words.cancelled, words.wasCancelled)
        case .sessionPaid: said(words.alreadyPaid, words.paidOtherwise)
        case .sessionBusy: said(words.beingPaid, words.busy)
        case .sessionNotLocked: said(words.notPaid, words.tooLong)
        case .ownSession: said(words.notPaid, words.nobodyOwn)
        case .amountChanged: said(words.changed, words.otherAmount)
        case .tipNotAllowed: said(words.notPaid, words.noTip)
        case .noWalletInCurrency: said(words.notPaid, words.noSuchWallet)
        case .balanceTooLarge: said(words.notPaid, words.payeeWalletFull)
        case .unknownSession: said(words.notPaid, words.gone)
        case .contestFull, .contestLocked, .contestCancelled:
            (words.notEntered, "<span lang=\"en\" dir=\"ltr\">\(refusal.problem.detail)</span>")
        case .unknownUser, .forbidden, .keyReused, .tooManyLiveSessions, .noFreeEID,
            .unknownEID, .tooManyRotations, .sessionNotPaid, .sessionRefunded,
            .refundTooLarge, .shareTaken, .notRefundable, .unknownRecord, .depositTooLarge,
            .walletFull, .tooManyOpenDeposits, .tooManyDeposits, .tooManyWithdrawals,
            .intentSettled, .payeeNotOnboarded,
            .walletOwes, .heldBalance, .withdrawalTooLate, .accountChanged, .otherProvider,
            .unreadable,
            .unknownContest, .notOrganizer, .notEntrant,
            .ownContest, .joinTokenRequired, .alreadyJoined, .notJoined, .contestState,
            .contestDisputed, .scoresChanged, .noScores, .tooManyContests, .contestDates,
            .leftTooOften, .tooManyScores, .contestUnderReview, .potUnequal, .dailyLimit:
            said(words.notPaid, words.impossible.filled(refusal.problem.code))
        }
    }

    private func missing(_ refusal: Refusal) -> HTML {
        guard let required = refusal.required, let available = refusal.available else {
            return "\(words.insufficientBalance)"
        }
        let balance = Money(minorUnits: available, currency: session.amount.currency)
        return missing(required - available, words.missingThen, balance)
    }

    // MARK: Pieces

    /// The colour and icon of a page.
    private enum Mood: String {
        case calm, good, wait, bad, over

        fileprivate var sign: HTML? {
            switch self {
            case .calm: nil
            case .good: Self.sign("M14 25l7 7 14-15")
            case .wait: Self.sign("M24 13v12l8 5")
            case .bad, .over: Self.sign("M16 16l16 16M32 16L16 32")
            }
        }

        private static func sign(_ path: StaticString) -> HTML {
            """
            <svg class="sign" viewBox="0 0 48 48" aria-hidden="true">\
            <circle cx="24" cy="24" r="21"/>\
            <path d="\(path.description)"/></svg>
            """
        }
    }

    private func page(
        _ title: String,
        _ content: HTML,
        mood: Mood = .calm,
        reload: Int? = nil
    ) -> WebPage {
        WebPage(
            title: title,
            style: .pay,
            reload: reload,
            language: language,
            content: """
                <section class="panel narrow pay \(mood.rawValue)">\(mood.sign)\(content)</section>
                """
        )
    }

    /// Returns the payee, amount, memo and the digits to compare, then `action` and the time left.
    private func request(_ action: HTML) -> HTML {
        """
        \(facts)
        <p class="compare">\(HTML.filled(words.compare, "<b>\(digits)</b>"))</p>
        \(action)
        <p class="quiet">\(timeLeft)</p>
        """
    }

    private var facts: HTML { facts(adding: session.tip) }

    /// Returns the payee, the memo and what the payer pays: the total, and what it consists of.
    ///
    /// - Parameter tip: The tip in minor units. The session's amount does not include it.
    private func facts(adding tip: Int64?) -> HTML {
        let memo = session.memo.map { "<p class=\"memo\"><bdi>\($0)</bdi></p>" as HTML }
        let total = TippedAmount(session.amount, tip: tip)
        let added = Money(minorUnits: total.tip, currency: total.amount.currency)
        let sum = words.tipSum.filled(
            language.text(total.amount),
            language.text(added)
        )
        let tip: HTML? = total.tip > 0 ? "<p>\(sum)</p>" : nil
        return """
            <p class="payee"><bdi>\(payee)</bdi></p>
            <p class="amount">\(language.text(total.total))</p>
            \(tip)\(memo)
            """
    }

    /// The last four characters of the EID, which the till shows, too.
    private var digits: String { String(session.eid.description.suffix(4)) }

    private var timeLeft: String {
        let left = now.duration(to: session.expiresAt).wholeMilliseconds
        let minutes = max(1, (left + 59_999) / 60_000)
        return minutes == 1
            ? words.lastMinute : words.minutes.filled("\(minutes)")
    }
}

extension PayPage {
    static func unknown(in language: Language) -> WebPage {
        let words = language.pay
        return WebPage(
            title: words.unknown,
            style: .pay,
            language: language,
            content: """
                <section class="panel narrow pay">
                <p>\(words.unknownText)</p>
                <p><a class="plain" href="\(WebPath.enterEID)">\(words.typeDigits)</a></p>
                </section>
                """
        )
    }

    /// Returns the page with the input field for an EID.
    ///
    /// - Parameter typed: The typed text, which is no EID; `nil` if nothing was typed.
    static func enter(rejecting typed: String? = nil, in language: Language) -> WebPage {
        let words = language.pay
        return WebPage(
            title: words.pay,
            style: .pay,
            banner: typed.map { _ in
                WebPage.Banner(words.notDigits, isBad: true, in: language)
            },
            language: language,
            content: """
                <section class="panel narrow pay">
                <form method="get" action="\(WebPath.enterEID)" class="stack">
                <label>\(words.digits)
                <input name="eid" value="\(typed?.prefix(64) ?? "")" required maxlength="20" \
                dir="ltr" autocomplete="off" autocapitalize="none" spellcheck="false" autofocus>\
                </label>
                <button class="main">\(words.show)</button>
                </form>
                <p class="quiet">\(words.orCamera)</p>
                </section>
                """
        )
    }
}
