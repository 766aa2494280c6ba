internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Pages
internal import Payments

/// The pages of one request, as a payer sees them: made for a phone held in one hand.
struct PayPage: Sendable {
    /// The EID that the page was opened with.
    let eid: EID
    /// The session at this moment.
    let session: Session
    let payee: String
    let now: Timestamp

    /// The seconds after which a page that waits for somebody else loads itself anew.
    private static let waiting = 3
    /// The same while an outcome is not known.
    private static let resolving = 2

    /// The request for a person who is not logged in, and who may have paid it all the same.
    var forAnybody: WebPage {
        if case .paid = session.state {
            return page("Paid", "<p>This request is paid.</p>", mood: .over)
        }
        let login = WebPath.login(returningTo: WebPath.request(eid))
        let link = "<a class=\"main\" href=\"\(login)\">Log in to pay</a>" as HTML
        return ended ?? page("Pay", request(link))
    }

    /// The request for a person who is logged in: with the one button, or why there is none.
    ///
    /// - Parameter balance: In the session's currency; `nil` without a wallet in it.
    func view(for visit: WebVisit, balance: Money?) -> WebPage {
        if let paid = paid(by: visit.user) ?? ended { return paid }
        if session.payee == visit.user {
            return page(
                "This is your own request",
                request("<p>Nobody can pay their own request.</p>")
            )
        }
        if case .locked(let payer, _) = session.state, payer != visit.user {
            let text: HTML = """
                <p>Somebody else is paying this at the moment. You were not charged.</p>
                <p class="quiet">This page looks again by itself.</p>
                """
            return page("Being paid", request(text), mood: .wait, reload: Self.waiting)
        }
        guard visit.allows(.payer) else {
            return page("Pay", request("<p>This login does not allow payments.</p>"))
        }
        guard let balance else {
            let code = session.amount.currency.rawValue.uppercased()
            return page("Pay", request("<p>You have no wallet in \(code).</p>"))
        }
        let missing = session.amount.minorUnits - balance.minorUnits
        guard missing <= 0 else {
            return page(
                "Not enough money",
                request("<p>\(Self.missing(missing, "has", balance))</p>\(toWallet)")
            )
        }
        return page("Pay", request(form(for: visit, balance)))
    }

    private func form(for visit: WebVisit, _ balance: Money) -> HTML {
        let tip: HTML? =
            session.tip == nil
            ? nil
            : """
            <label>Tip, if you like<input name="tip" inputmode="decimal" autocomplete="off" \
            maxlength="12" placeholder="\(Money(minorUnits: 0, currency: balance.currency).plain)">\
            </label>
            """
        let form = visit.form(
            to: WebPath.request(eid),
            """
            \(PaymentForm(for: session).agreed)\(tip)\
            <button class="main">Pay \(session.amount)\(tip == nil ? "" : " + tip")</button>
            """
        )
        return "\(form)<p class=\"quiet\">Your wallet has \(balance).</p>"
    }

    /// - Parameter verb: "has", or "had" at the time of a refusal.
    private static func missing(_ amount: Int64, _ verb: String, _ balance: Money) -> HTML {
        let rest = Money(minorUnits: amount, currency: balance.currency)
        return "Your wallet \(verb) \(balance): <b>\(rest) more</b> are needed."
    }

    private var toWallet: HTML {
        let path = WebPath.wallet(in: session.amount.currency)
        return "<p><a class=\"plain\" href=\"\(path)\">To the wallet</a></p>"
    }

    /// The page of a session that nobody can pay any more.
    private var ended: WebPage? {
        switch session.state {
        case .created, .advertising, .locked: nil
        case .paid:
            page(
                "Already paid",
                "<p>Somebody else has paid this request. You were not charged.</p>",
                mood: .over
            )
        // Not that nothing was charged: the clock alone does not say so.
        case .expired:
            page(
                "Time is up",
                """
                <p>The request has expired: nobody can pay it any more.</p>
                <p>Ask at the till for a new one.</p>
                """,
                mood: .over
            )
        case .cancelled:
            page(
                "Cancelled",
                "<p>The payee cancelled the request. Nothing was charged.</p>",
                mood: .over
            )
        }
    }

    /// The page of a desk at which the user cannot enter: most often, because they are in.
    func closed(_ refusal: Refusal, _ contest: RecordID) -> WebPage {
        let link = "<a class=\"plain\" href=\"\(WebPath.contest(contest))\">The contest</a>" as HTML
        if refusal.reason == .alreadyJoined {
            return page("You are in", "\(facts)<p>You have entered.</p><p>\(link)</p>", mood: .good)
        }
        return page(
            "Entries are closed",
            "\(facts)<p>\(refusal.problem.detail)</p><p>\(link)</p>",
            mood: .over
        )
    }

    // MARK: After the press

    /// The page of a session that the user has paid, by this press or another.
    private func paid(by user: UserID) -> WebPage? {
        guard case .paid(let payer, _) = session.state, payer == user else { return nil }
        let back = Money(minorUnits: session.refunded, currency: session.amount.currency)
        let refunded: HTML? =
            session.refunded > 0 ? "<p>\(back) of it came back.</p>" : nil
        return page("You have paid this", "\(facts)\(refunded)\(toWallet)", mood: .good)
    }

    /// The payment, once it is certain.
    func paid(_ outcome: Pay.Outcome, at time: HTML) -> WebPage {
        let balance = Money(minorUnits: outcome.newBalance, currency: session.amount.currency)
        return page(
            "Paid",
            """
            \(facts)
            <p class="quiet">\(time) · \(digits)</p>
            <p>Your wallet had \(balance) afterwards.</p>
            \(toWallet)
            """,
            mood: .good
        )
    }

    /// The page of a press that the key has no answer to yet: the same press again finds out.
    ///
    /// - Precondition: The session is as it is stored.
    func unanswered(_ press: PaymentForm, for visit: WebVisit) -> WebPage {
        if let paid = paid(by: visit.user) { return paid }
        // A session that has ended refuses what may still be on its way.
        if session.finalReason != nil {
            let text: HTML = "<p>The request has ended. You were not charged.</p>"
            return page("Not paid", text, mood: .over)
        }
        let again = visit.form(
            to: WebPath.request(eid),
            "\(press.pressed)<button class=\"main\">Find out now</button>"
        )
        return page(
            "Being found out",
            """
            \(facts)
            <p>It is not known yet whether this was paid. <b>Please do not pay again.</b></p>
            \(again)
            <p class="quiet">The button sends the same payment again: it is paid once. This page
            looks by itself, too, every \(Self.resolving) seconds.</p>
            """,
            mood: .wait,
            reload: Self.resolving
        )
    }

    /// The page of a refusal: a sentence for each reason.
    func refused(_ refusal: Refusal, for user: UserID) -> WebPage {
        // Another press of the same person's has paid it.
        if let paid = paid(by: user) { return paid }
        let again: HTML = """
            <p><a class="main" href="\(WebPath.request(eid))">Look at the request again</a></p>
            """
        let (title, text): (String, HTML) =
            switch refusal.reason {
            case .insufficientBalance: ("Not enough money", missing(refusal))
            case .sessionExpired: ("Time is up", "The request has expired.")
            case .sessionCancelled: ("Cancelled", "The payee cancelled the request.")
            case .sessionPaid: ("Already paid", "This request was paid by another payment.")
            case .sessionBusy: ("Being paid", "Somebody else is paying this.")
            case .sessionNotLocked: ("Not paid", "It took too long.")
            case .ownSession: ("Not paid", "Nobody can pay their own request.")
            case .amountChanged: ("The request has changed", "It asks for another amount now.")
            case .tipNotAllowed: ("Not paid", "The request takes no tip, or none so large.")
            case .noWalletInCurrency: ("Not paid", "You have no wallet in this currency.")
            case .balanceTooLarge: ("Not paid", "The payee's wallet cannot hold that much.")
            case .unknownSession: ("Not paid", "There is no such request any more.")
            case .contestFull, .contestLocked, .contestCancelled, .alreadyJoined:
                ("Not entered", "\(refusal.problem.detail)")
            case .unknownUser, .forbidden, .keyReused, .tooManyLiveSessions, .noFreeEID,
                .unknownEID, .tooManyRotations, .sessionNotPaid, .sessionRefunded,
                .refundTooLarge, .shareTaken, .notRefundable, .unknownRecord, .depositLimit,
                .intentSettled, .payeeNotOnboarded,
                .walletOwes, .heldBalance, .withdrawalTooLate, .accountChanged, .otherProvider,
                .unreadable,
                .unknownContest, .notOrganizer, .notEntrant,
                .ownContest, .joinTokenRequired, .notJoined, .contestState, .contestDisputed,
                .scoresChanged, .noScores, .tooManyContests:
                ("Not paid", "This cannot be paid: \(refusal.problem.code).")
            }
        return page(title, "<p>\(text) <b>Nothing was charged.</b></p>\(again)", mood: .bad)
    }

    private func missing(_ refusal: Refusal) -> HTML {
        guard let required = refusal.required, let available = refusal.available else {
            return "Your wallet does not hold enough."
        }
        let balance = Money(minorUnits: available, currency: session.amount.currency)
        return Self.missing(required - available, "had", balance)
    }

    // MARK: Pieces

    /// The colour and the sign of a page.
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
            content: """
                <section class="panel narrow pay \(mood.rawValue)">\(mood.sign)\(content)</section>
                """
        )
    }

    /// Payee, amount and memo, what to compare, and then what can be done.
    private func request(_ action: HTML) -> HTML {
        """
        \(facts)
        <p class="compare">The till shows <b>\(digits)</b> too. If it does not, do not pay.</p>
        \(action)
        <p class="quiet">Open for another \(minutesLeft).</p>
        """
    }

    private var facts: HTML {
        let memo = session.memo.map { "<p class=\"memo\"><bdi>\($0)</bdi></p>" as HTML }
        let total = TippedAmount(session.amount, tip: session.tip)
        let added = Money(minorUnits: total.tip, currency: total.amount.currency)
        let tip: HTML? = total.tip > 0 ? "<p>\(total.amount) + \(added) tip</p>" : nil
        return """
            <p class="payee"><bdi>\(payee)</bdi></p>
            <p class="amount">\(total.total)</p>
            \(tip)\(memo)
            """
    }

    /// The four digits that the till shows.
    private var digits: String { String(session.eid.description.suffix(4)) }

    private var minutesLeft: String {
        let left = now.duration(to: session.expiresAt).wholeMilliseconds
        let minutes = max(1, (left + 59_999) / 60_000)
        return minutes == 1 ? "minute" : "\(minutes) minutes"
    }
}

extension PayPage {
    /// The page of an EID that is nobody's.
    static let unknown = WebPage(
        title: "No such request",
        style: .pay,
        content: """
            <section class="panel narrow pay">
            <p>There is no open request with these digits. A request lives for five minutes at most,
            and its digits may change while it is open.</p>
            <p><a class="plain" href="\(WebPath.enterEID)">Type the digits</a></p>
            </section>
            """
    )

    /// The field for an EID.
    ///
    /// - Parameter typed: The text that was typed, if it is none.
    static func enter(rejecting typed: String? = nil) -> WebPage {
        WebPage(
            title: "Pay",
            style: .pay,
            banner: typed.map { _ in
                WebPage.Banner("That is not ten digits of 0–9 and a–f.", isBad: true)
            },
            content: """
                <section class="panel narrow pay">
                <form method="get" action="\(WebPath.enterEID)" class="stack">
                <label>The request's ten digits (0–9, a–f)
                <input name="eid" value="\(typed?.prefix(64) ?? "")" required maxlength="20" \
                autocomplete="off" autocapitalize="none" spellcheck="false" autofocus></label>
                <button class="main">Show the request</button>
                </form>
                <p class="quiet">Or point your phone's camera at the code on the till's screen.</p>
                </section>
                """
        )
    }
}
