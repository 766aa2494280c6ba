internal import Crypto
internal import Devices
internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import Outbox
internal import Pages
internal import WebSessions

/// Decides which requests reach a page.
///
/// `Host` must be this server's. This excludes web pages whose host name resolves to the server's
/// address (DNS rebinding). The `Origin` of a form must be this server's. The form of a logged-in
/// person must also contain the form token of the session. A link on another site may open a page.
/// All other requests from other sites are refused.
struct WebGate: Sendable {
    static let formTokenField = "form_token"

    let site: PublicURL
    let cookies: WebCookies
    let sessions: WebSessionRegistry
    let outbox: Outbox
    private let devices: DeviceRegistry
    let limits: Limits
    let clock: @Sendable () -> Timestamp
    private let hidden: @Sendable (UserID) -> Set<WebPage.Section>
    private let key: SymmetricKey
    /// The key that seals logins in progress.
    let attemptKey: SymmetricKey

    init(
        site: PublicURL,
        isDevelopment: Bool,
        sessions: WebSessionRegistry,
        outbox: Outbox,
        devices: DeviceRegistry,
        localIssuer: LocalTokenIssuer,
        limits: Limits,
        clock: @escaping @Sendable () -> Timestamp,
        hidden: @escaping @Sendable (UserID) -> Set<WebPage.Section>
    ) {
        self.site = site
        cookies = WebCookies(isDevelopment: isDevelopment)
        self.sessions = sessions
        self.outbox = outbox
        self.devices = devices
        self.limits = limits
        self.clock = clock
        self.hidden = hidden
        key = localIssuer.key(for: "gotchu-web-session")
        attemptKey = localIssuer.key(for: "gotchu-web-login")
    }

    typealias Handler = @Sendable (Request, ServerContext) async throws -> Response

    /// Makes the handler of a public page. It checks `Host` and `Origin`.
    func open(_ body: @escaping Handler) -> Handler {
        { request, context in
            try check(request)
            var response = try await body(request, context)
            // The page has shown the notice, so its cookie is removed. A redirect keeps the cookie
            // for the next page.
            if response.status.kind != .redirection, notice(of: request) != nil {
                response.headers.append(.setCookie, cookies.setting(.notice, to: nil))
            }
            return response
        }
    }

    /// Makes the handler of a page that needs a login, and a scope if given. A person without them
    /// is redirected to the login page, and returns to this page after the login.
    func page(
        needing scope: Scope? = nil,
        _ body: @escaping @Sendable (WebVisit) async throws -> Response
    ) -> Handler {
        open { request, context in
            let login = WebPath.login(returningTo: request.uri.string)
            guard let visit = try await visit(request, context) else { return redirect(to: login) }
            guard scope.map(visit.allows) ?? true else {
                return redirect(
                    to: login,
                    saying: scope == .payouts ? .loginWithoutPayouts : .loginTooNarrow
                )
            }
            return try await Self.answer(to: visit) { try await body(visit) }
        }
    }

    /// Shows a client error on a page with the user's navigation. Other errors are rethrown and
    /// shown without the navigation.
    private static func answer(
        to visit: WebVisit,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch var problem as Problem
            where [400, 403, 404, 409, 413, 415, 422].contains(problem.status)
        {
            problem.requestID = problem.requestID ?? visit.context.requestID
            return WebPage.problem(problem, of: visit.request)
                .response(for: visit, status: .init(code: problem.status))
        }
    }

    /// Makes the handler of a form that needs a login, and a scope if given.
    ///
    /// - Parameter limit: The maximum number of fields.
    /// - Throws: A problem: 401 without a login, 403 without the session's form token or the scope.
    func form(
        needing scope: Scope? = nil,
        fields limit: Int = FormFields.fieldLimit,
        _ body: @escaping @Sendable (inout WebForm) async throws -> Response
    ) -> Handler {
        open { request, context in
            guard let visit = try await visit(request, context) else {
                throw Problem(
                    .unauthorized,
                    detail: "You are not logged in any more. This form did nothing.",
                    fix: "Log in again, then look before you repeat it."
                )
            }
            var fields = try await FormFields(request, limit: limit)
            guard let token = fields.text(Self.formTokenField), visit.token.isFormToken(token)
            else {
                throw Problem(
                    .forbidden,
                    detail: "The form is not one of this login's. Nothing was done.",
                    fix: "Open the page again, then repeat it."
                )
            }
            guard scope.map(visit.allows) ?? true else {
                throw Problem(.forbidden, detail: "This login does not allow that.")
            }
            let form = WebForm(visit: visit, fields: fields)
            return try await Self.answer(to: visit) {
                var form = form
                return try await body(&form)
            }
        }
    }

    /// Begins a session and redirects to a page.
    ///
    /// - Parameters:
    ///   - scopes: The session's scopes, in the format of a token's `scope`.
    ///   - time: The time of authentication; `nil` if the issuer does not report it.
    /// - Returns: `nil` if a session with this token has begun before.
    func begin(
        for user: User,
        scopes: String,
        authenticatedAt time: Timestamp?,
        token: SessionToken = SessionToken(),
        opening path: String
    ) async throws -> Response? {
        let now = clock()
        let session = WebSession(
            id: token.id,
            user: user.id,
            userName: user.displayName,
            scopes: scopes,
            authenticatedAt: time,
            usedAt: now,
            expiresAt: now.advanced(by: WebSession.lifetime)
        )
        guard try await sessions.begin(session) else { return nil }
        var response = redirect(to: path)
        response.headers.append(.setCookie, cookies.setting(.session, to: token.text(by: key)))
        return response
    }

    /// Ends the session of a visit, for all servers of the database.
    func end(_ visit: WebVisit) async throws -> Response {
        try await sessions.end(visit.session.id, at: visit.now)
        var response = redirect(to: WebPath.login, saying: .loggedOut)
        response.headers.append(.setCookie, cookies.setting(.session, to: nil))
        return response
    }

    /// Returns a redirect to a page (303). After a form, reloading that page does not submit the
    /// form again.
    func redirect(to path: String, saying notice: WebNotice? = nil) -> Response {
        var headers = PagePolicy.web.fields
        headers[.location] = path
        if let notice {
            let cookie = cookies.setting(.notice, to: notice.rawValue, seconds: 60)
            headers.append(.setCookie, cookie)
        }
        return Response(status: .seeOther, headers: headers)
    }

    /// Returns the notice in the request's cookie.
    func notice(of request: Request) -> WebNotice? {
        cookies.value(.notice, of: request).flatMap(WebNotice.init)
    }

    /// Returns the visit of a request; `nil` without a valid session.
    ///
    /// - Throws: A problem: 429 for too many calls by the user.
    func visit(_ request: Request, _ context: ServerContext) async throws -> WebVisit? {
        guard let text = cookies.value(.session, of: request),
            let token = SessionToken(text, by: key)
        else { return nil }
        let now = clock()
        // A refresh by a script does not count as use, because the person may be away.
        let isUsed = request.headers[.fetchDestination] != "empty"
        guard let session = try await sessions.session(token.id, at: now, isUsed: isUsed)
        else { return nil }
        try limits.allowCall(by: Login(user: session.user))
        var visit = WebVisit(
            request: request,
            context: context,
            session: session,
            token: token,
            notice: notice(of: request),
            now: now
        )
        visit.hiddenSections = hidden(visit.user)
        if request.method == .get, visit.allows(.payee) {
            visit.hasWebhookFailures = try await outbox.hasFailures(of: visit.user)
            visit.deviceCount = try await devices.devices(of: visit.user)
                .count { $0.revokedAt == nil && now < $0.expiresAt }
        }
        return visit
    }

    private func check(_ request: Request) throws(Problem) {
        guard request.head.authority?.lowercased() == site.authority else {
            throw Problem(
                .forbidden,
                detail: "The pages are not at this address.",
                fix: "Open \(site.origin)/web"
            )
        }
        let isPost = request.method == .post
        switch request.headers[.fetchSite] {
        case nil, "same-origin", "none": break
        // This is a link on another site, or the return from the login provider.
        case _? where !isPost && request.headers[.fetchMode] == "navigate": break
        case _?:
            throw Problem(.forbidden, detail: "Another site asked for this. Nothing was done.")
        }
        guard !isPost || request.headers[values: .origin] == [site.origin] else {
            throw Problem(.forbidden, detail: "Another site sent this form. Nothing was done.")
        }
    }
}

extension HTTPFields {
    mutating func append(_ name: HTTPField.Name, _ value: String) {
        append(HTTPField(name: name, value: value))
    }
}

extension HTTPField.Name {
    fileprivate static let fetchSite = known("Sec-Fetch-Site")
    fileprivate static let fetchMode = known("Sec-Fetch-Mode")
    fileprivate static let fetchDestination = known("Sec-Fetch-Dest")
}
