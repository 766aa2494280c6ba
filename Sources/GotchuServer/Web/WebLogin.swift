internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import LedgerStore
internal import Pages

/// The login page. A development server asks for an e-mail address. Other servers use the OpenID
/// provider.
struct WebLogin: Sendable {
    let gate: WebGate
    let development: DevelopmentLogin?
    let provider: OpenIDClient?
    let users: UserDirectory
    let store: any Store

    @Sendable func page(_ request: Request, _ context: ServerContext) async throws -> Response {
        let isFresh = request.uri.queryParameters["fresh"] != nil
        let language = request.language
        return WebPage(
            title: language.layout.logIn,
            banner: gate.notice(of: request).map { WebPage.Banner($0, in: language) },
            language: language,
            content: form(Self.target(of: request), isFresh: isFresh, language.layout)
        ).response()
    }

    private func form(_ target: String, isFresh: Bool, _ words: LayoutWords) -> HTML {
        guard development != nil else { return link(target, isFresh: isFresh, words) }
        return """
            <section class="panel narrow">
            <form method="post" action="\(WebPath.developmentLogin)" class="stack">
            \(HTML.hidden("to", target))
            <label>\(words.email)
            <input name="email" type="email" dir="ltr" required maxlength="254" \
            autocomplete="username" autofocus>
            </label>
            <button class="main">\(words.logIn)</button>
            </form>
            <p class="quiet">\(words.developmentLogin)</p>
            </section>
            """
    }

    /// Returns a link to the provider's login. It is no form, because the pages' policy
    /// `form-action` forbids forms that redirect to another site.
    private func link(_ target: String, isFresh: Bool, _ words: LayoutWords) -> HTML {
        let path =
            "\(WebPath.providerLogin)?to=\(WebPath.escaped(target))\(isFresh ? "&fresh=1" : "")"
        return """
            <section class="panel narrow">
            <p><a class="main" href="\(path)">\(words.logIn)</a></p>
            <p class="quiet">\(words.providerLogin)</p>
            </section>
            """
    }

    // MARK: The OpenID provider

    /// Redirects a person to the provider's login page.
    @Sendable func begin(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let provider else { throw Problem.noSuchPage }
        try gate.limits.allowLogin(from: context.client)
        let attempt = LoginAttempt(
            to: Self.target(of: request),
            isFresh: request.uri.queryParameters["fresh"] != nil,
            at: gate.clock()
        )
        var response = gate.redirect(to: try await provider.authorization(for: attempt))
        let cookie = gate.cookies.setting(
            .login,
            to: try attempt.sealed(with: gate.attemptKey),
            seconds: Int(LoginAttempt.lifetime.components.seconds)
        )
        response.headers.append(.setCookie, cookie)
        return response
    }

    /// Begins a session for a person who returns from the provider's page.
    ///
    /// - Throws: A problem: 401 if the response is not for this browser's login or is no success.
    @Sendable func callback(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let provider else { throw Problem.noSuchPage }
        try gate.limits.allowLogin(from: context.client)
        let now = gate.clock()
        var answer: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            // A repeated parameter would be ambiguous.
            guard answer.updateValue(String(value), forKey: String(name)) == nil else {
                throw OpenIDClient.refused
            }
        }
        guard let sealed = gate.cookies.value(.login, of: request),
            let attempt = LoginAttempt(sealed, sealedWith: gate.attemptKey, at: now),
            answer["state"] == attempt.state, answer["iss"].map(provider.isIssuer) ?? true
        else { throw OpenIDClient.refused }
        guard let code = answer["code"] else {
            throw Problem(
                .unauthorized,
                detail: "You were not logged in: the provider's page was left, or it refused.",
                fix: "Log in again."
            )
        }
        let (claims, scopes) = try await provider.claims(for: code, of: attempt, at: now)
        let user = try await users.user(claims)
        guard let known = try await store.user(id: user, orLogin: "") else {
            // After a failover this replica may not have the user yet.
            _ = users.forget(claims)
            throw Problem(.tryAgain, detail: "Your user could not be read.", fix: "Log in again.")
        }
        let begun = try await gate.begin(
            for: known,
            scopes: scopes,
            authenticatedAt: claims.authenticatedAt,
            token: attempt.token,
            opening: attempt.target
        )
        guard var begun else { throw OpenIDClient.refused }
        begun.headers.append(.setCookie, gate.cookies.setting(.login, to: nil))
        return begun
    }

    private static func target(of request: Request) -> String {
        WebPath.page(request.uri.queryParameters["to"].map { String($0) })
    }

    // MARK: Development

    /// Begins a session with only an e-mail address, for a program on this machine.
    @Sendable func developmentLogin(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        guard let development else { throw Problem.noSuchPage }
        try DevelopmentLogin.requireLocal(request, context)
        try gate.limits.allowLogin(from: context.client)
        var fields = try await FormFields(request)
        let email = fields.text("email")
        let target = WebPath.page(fields.text("to"))
        try fields.end()
        let user = try await development.user(of: email)
        let begun = try await gate.begin(
            for: user,
            scopes: WebPath.scopes(for: target).text,
            authenticatedAt: gate.clock(),
            opening: target
        )
        guard let begun else { preconditionFailure("random bits came twice") }
        return begun
    }
}
