internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages
internal import WebSessions

/// A request of a logged-in person.
struct WebVisit: Sendable {
    /// The maximum age of a login for actions that need a fresh login, such as refunds.
    static let freshness: Duration = .seconds(15 * 60)

    let request: Request
    let context: ServerContext
    let session: WebSession
    let token: SessionToken
    let notice: WebNotice?
    let now: Timestamp
    /// A Boolean that is true if one of the person's webhooks is disabled or has dead deliveries.
    /// Read only for GET requests with the scope `payee`.
    var hasWebhookFailures = false
    /// The number of the person's devices that are neither revoked nor expired. Read only for GET
    /// requests with the scope `payee`.
    var deviceCount = 0
    /// The pages that are not offered to this person.
    var hiddenSections: Set<WebPage.Section> = []

    var user: UserID { session.user }

    /// The time zone of displayed times. The address of an earnings page may name another.
    var zone: WebZone { .local(at: now) }

    /// The language of the pages for payers. The merchant's pages are in English.
    var language: Language { request.language }

    /// The time zone for times in the language of the payer's pages.
    var localizedZone: WebZone { .local(at: now, in: language) }

    func allows(_ scope: Scope) -> Bool {
        session.scopes.split(separator: " ").contains { $0 == scope.rawValue }
    }

    /// Returns a form with this session's form token.
    func form(to path: String, style: String = "", _ content: HTML) -> HTML {
        """
        <form method="post" action="\(path)" class="\(style)">\
        \(HTML.hidden(WebGate.formTokenField, token.formToken))\(content)</form>
        """
    }

    // MARK: A login of the last 15 minutes

    /// A Boolean that is true if the person has authenticated within the last 15 minutes.
    var isFresh: Bool {
        session.authenticatedAt.map { now < $0.advanced(by: Self.freshness) } ?? false
    }

    /// Refuses an action if the login is older than 15 minutes.
    ///
    /// - Parameter what: The action, as the beginning of a sentence.
    /// - Throws: A problem: 403 if the login is older.
    func requireFresh(for what: String) throws(Problem) {
        guard isFresh else {
            throw Problem(
                .forbidden,
                detail: "\(what) needs a login of the last 15 minutes. Nothing was done.",
                fix: "Log in again, then repeat it."
            )
        }
    }

    /// Returns the link to a new login. It replaces a form for which the login is too old.
    ///
    /// - Parameter path: The page with the form, which opens after the login.
    func freshLogin(for what: String, to path: String) -> HTML {
        """
        <p>\(what) needs a login of the last 15 minutes.</p>
        <p><a class="plain" href="\(WebPath.login(returningTo: path))&fresh=1">Log in again</a></p>
        """
    }
}

/// A form that a logged-in person has submitted from a page of this server.
struct WebForm: Sendable {
    let visit: WebVisit
    var fields: FormFields
}

/// A sentence shown at the top of the page after a form. A cookie passes it to that page. If the
/// address contained it, a link on another site could make the page show it.
enum WebNotice: String, Sendable {
    case loggedOut = "logged-out"
    case loginTooNarrow = "login-too-narrow"
    case loginWithoutPayouts = "login-without-payouts"
    case deviceRevoked = "device-revoked"
    case webhooksResent = "webhooks-resent"
    case nothingResent = "nothing-resent"
    case refunded
    case requestChanged = "request-changed"
    case malformedTip = "malformed-tip"
    case notCharged = "not-charged"
    case moneyAdded = "money-added"
    case malformedDeposit = "malformed-deposit"
    case depositLimit = "deposit-limit"
    case tooManyDeposits = "too-many-deposits"
    case depositRefused = "deposit-refused"
    case depositUnpayable = "deposit-unpayable"
    case depositCancelled = "deposit-cancelled"
    case depositReturned = "deposit-returned"
    case depositLeft = "deposit-left"
    case malformedWithdrawal = "malformed-withdrawal"
    case withdrawn
    case withdrawalCancelled = "withdrawal-cancelled"
    case withdrawalTooLate = "withdrawal-too-late"
    case setUpReturned = "set-up-returned"
    case setUpAgain = "set-up-again"
    case contestCreated = "contest-created"
    case contestChanged = "contest-changed"
    case scoresEntered = "scores-entered"
    case nothingScored = "nothing-scored"

    /// Returns the sentence in a language. The sentences of the merchant's pages and of contests
    /// are always English.
    func text(in language: Language) -> String {
        let (layout, pay, wallet) = (language.layout, language.pay, language.wallet)
        return switch self {
        case .loggedOut: layout.loggedOut
        case .loginTooNarrow: layout.loginTooNarrow
        case .loginWithoutPayouts: layout.loginWithoutPayouts
        case .deviceRevoked:
            "Revoked. The device gets no new token; its last one ends within minutes."
        case .webhooksResent: "The events are being sent again."
        case .nothingResent: "Nothing was given up any more, so nothing is sent again."
        case .refunded: "Refunded. This is final."
        case .requestChanged: pay.requestChanged
        case .malformedTip: pay.malformedTip
        case .notCharged: pay.notCharged
        case .moneyAdded: wallet.moneyAdded
        case .malformedDeposit: wallet.malformedDeposit
        case .depositLimit: wallet.depositLimit
        case .tooManyDeposits: wallet.tooManyDeposits
        case .depositRefused: wallet.depositRefused
        case .depositUnpayable: wallet.depositUnpayable
        case .depositCancelled: wallet.depositCancelled
        case .depositReturned: wallet.depositReturned
        case .depositLeft: wallet.depositLeft
        case .malformedWithdrawal:
            "Nothing was taken: the amount must be one such as 20 or 20.50, and not too small."
        case .withdrawn: "Taken from the wallet. Its way to the bank is below."
        case .withdrawalCancelled: "Cancelled. The money is back in the wallet."
        case .withdrawalTooLate: "It is under way already, and cannot be cancelled any more."
        case .setUpReturned: "You are back from the provider's pages. Your status is below."
        case .setUpAgain:
            "That link was used or is too old. The button below opens a fresh one."
        case .contestCreated: "The draft is made. Nobody sees it before you publish it."
        case .contestChanged: "Done."
        case .scoresEntered: "The scores are entered."
        case .nothingScored: "No score was changed."
        }
    }

    /// A Boolean that is true if the page shows the notice as a refusal.
    var isRefusal: Bool {
        switch self {
        case .loggedOut, .deviceRevoked, .webhooksResent, .refunded, .moneyAdded,
            .depositCancelled, .depositReturned, .depositLeft, .withdrawn, .withdrawalCancelled,
            .setUpReturned, .contestCreated, .contestChanged, .scoresEntered:
            false
        case .loginTooNarrow, .loginWithoutPayouts, .nothingResent, .requestChanged,
            .malformedTip, .notCharged, .malformedDeposit, .depositLimit, .tooManyDeposits,
            .depositRefused, .depositUnpayable, .malformedWithdrawal, .withdrawalTooLate,
            .setUpAgain, .nothingScored:
            true
        }
    }
}
