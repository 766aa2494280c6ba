internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages
internal import WebSessions

/// A request of a logged-in person.
struct WebVisit: Sendable {
    /// The maximum age of a login for actions such as refunds.
    static let freshness: Duration = .seconds(15 * 60)

    let request: Request
    let context: ServerContext
    let session: WebSession
    let token: SessionToken
    let notice: WebNotice?
    let now: Timestamp
    /// A Boolean that is true if one of the person's webhooks needs attention.
    var hasWebhookTrouble = false
    /// The number of the person's devices that have a login, or a code for one.
    var deviceCount = 0
    /// The pages that this server does not offer, or not to this person.
    var hidden: Set<WebPage.Section> = []

    var user: UserID { session.user }

    /// The time zone of displayed times, unless the address names another.
    var zone: WebZone { .local(at: now) }

    /// The language of the pages for payers. The merchant's pages are in English.
    var language: Language { request.language }

    /// The time zone for times in that language.
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

    /// - Parameter what: The action that needs a fresh login, at the beginning of a sentence.
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

    /// Returns the content of a form's panel while the login is too old for the form.
    ///
    /// - Parameter path: The page with the form.
    func freshLogin(for what: String, to path: String) -> HTML {
        """
        <p>\(what) needs a login of the last 15 minutes.</p>
        <p><a class="plain" href="\(WebPath.login(returningTo: path))&fresh=1">Log in again</a></p>
        """
    }
}

/// A form that a logged-in person has sent from a page of ours.
struct WebForm: Sendable {
    let visit: WebVisit
    var fields: FormFields
}

/// A sentence shown at the top of the page after a form. It is passed in a cookie, so that no
/// link from a stranger can make our pages show it.
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

    /// Returns the sentence in a language; in English for the merchant's pages and contests.
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

    /// A Boolean that is true if the form had no effect.
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
