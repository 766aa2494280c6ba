internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages
internal import WebSessions

/// A request of a person who is logged in.
struct WebVisit: Sendable {
    /// The time since the login in which money may be refunded.
    static let freshness: Duration = .seconds(15 * 60)

    let request: Request
    let context: ServerContext
    let session: WebSession
    let token: SessionToken
    let notice: WebNotice?
    let now: Timestamp
    /// A Boolean that is true if a webhook of the person's needs them.
    var hasWebhookTrouble = false

    var user: UserID { session.user }

    /// The zone that times are written in, unless the address names one.
    var zone: WebZone { .own(at: now) }

    func allows(_ scope: Scope) -> Bool {
        session.scopes.split(separator: " ").contains { $0 == scope.rawValue }
    }

    /// A form that counts as this session's.
    func form(to path: String, style: String = "", _ content: HTML) -> HTML {
        """
        <form method="post" action="\(path)" class="\(style)">\
        \(HTML.hidden(WebGate.formTokenField, token.formToken))\(content)</form>
        """
    }

    // MARK: A login of the last 15 minutes

    /// A Boolean that is true if the person has proved an identity within the last 15 minutes.
    var isFresh: Bool {
        session.authenticatedAt.map { now < $0.advanced(by: Self.freshness) } ?? false
    }

    /// - Parameter what: The act that needs a fresh login, at the beginning of a sentence.
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

    /// The content of a form's panel while the login is too old for it.
    ///
    /// - Parameter path: The page on which the form is.
    func freshLogin(for what: String, to path: String) -> HTML {
        """
        <p>\(what) needs a login of the last 15 minutes.</p>
        <p><a class="plain" href="\(WebPath.login(returningTo: path))&fresh=1">Log in again</a></p>
        """
    }
}

/// A form that a person who is logged in has sent from a page of ours.
struct WebForm: Sendable {
    let visit: WebVisit
    var fields: FormFields
}

/// A sentence that the page after a form says first. It is passed on in a cookie, so that no
/// address of a stranger's can have our pages say it.
enum WebNotice: String, Sendable {
    case loggedOut = "logged-out"
    case loginTooNarrow = "login-too-narrow"
    case deviceRevoked = "device-revoked"
    case webhooksResent = "webhooks-resent"
    case nothingResent = "nothing-resent"
    case refunded
    case requestChanged = "request-changed"
    case malformedTip = "malformed-tip"
    case notCharged = "not-charged"

    var text: String {
        switch self {
        case .loggedOut: "Logged out, on every server."
        case .loginTooNarrow: "Your login is for payments only. Log in for the merchant's pages."
        case .deviceRevoked:
            "Revoked. The device gets no new token; its last one ends within minutes."
        case .webhooksResent: "The events are being sent again."
        case .nothingResent: "Nothing was given up any more, so nothing is sent again."
        case .refunded: "Refunded. This is final."
        case .requestChanged:
            "Nothing was charged: the request is not what you saw. Check the payee and the amount."
        case .malformedTip: "Nothing was charged: the tip is no amount, such as 2 or 2.50."
        case .notCharged: "This press charged nothing."
        }
    }

    /// A Boolean that is true if the form did not do what it was sent for.
    var isRefusal: Bool {
        switch self {
        case .loggedOut, .deviceRevoked, .webhooksResent, .refunded: false
        case .loginTooNarrow, .nothingResent, .requestChanged, .malformedTip, .notCharged: true
        }
    }
}
