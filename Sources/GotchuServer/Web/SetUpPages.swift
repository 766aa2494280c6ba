internal import Crypto
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages

/// The pages for payees with a ticket, who need no login. A button opens a new link to the payment
/// provider's pages. A link works once. Only the button creates a link: a messenger that previews
/// the page must not use it up.
struct SetUpPages: Sendable {
    let funding: FundingOperations
    let limits: Limits
    /// The key that signs tickets.
    let key: SymmetricKey
    /// This server's origin for browsers.
    let origin: String

    /// Returns the page with the button; `nil` if the request has no valid ticket for `path`.
    func page(for request: Request, at path: String) -> WebPage? {
        let text = request.uri.queryParameters[PayeeTicket.field[...]].map { String($0) }
        guard let text, ticket(text, at: path) != nil else { return nil }
        return WebPage(
            title: "Set up payouts",
            policy: .formsRedirecting(to: funding.pageOrigins),
            content: """
                <section class="panel narrow"><p>Say on the payment provider's own pages who you \
                are and which bank account is paid. We never see the account's number.</p>
                <form method="post" action="\(path)">\
                \(HTML.hidden(PayeeTicket.field, text))<button class="main">Go on</button></form>
                </section>
                """
        )
    }

    /// Creates a new link and redirects the payee to it.
    ///
    /// - Throws: A problem: 403 without a valid ticket, and if an invited payee's payouts are
    ///   already set up.
    func open(_ request: Request, at path: String) async throws -> Response {
        var fields = try await FormFields(request)
        let text = fields.text(PayeeTicket.field)
        try fields.end()
        guard let ticket = text.flatMap({ self.ticket($0, at: path) }) else {
            throw Problem(
                .forbidden,
                detail: "This invitation or link is too old, or is none. Nothing was done.",
                fix: "Ask for a fresh one."
            )
        }
        try limits.allowCall(by: Login(user: ticket.user))
        // The finder of an old invitation must not be able to change the bank account. Only the
        // renewal of a link that was made after a login can do this.
        if ticket.purpose != .renewal,
            [.active, .restricted].contains(
                try await funding.refreshedStatus(of: ticket.user).status
            )
        {
            throw Problem(
                .forbidden,
                detail: "Payouts are set up already. Nothing was done.",
                fix: "Log in to change the bank account."
            )
        }
        let link = try await funding.setUpLink(for: ticket.user, at: origin, with: ticket)
        return WebPage.providerRedirect(to: link.url, allowing: funding.pageOrigins + [origin])
    }

    private func ticket(_ text: String, at path: String) -> PayeeTicket? {
        PayeeTicket.Purpose.allCases.lazy.filter { $0.path == path }
            .compactMap { PayeeTicket(text, for: $0, by: key, at: funding.ledger.now) }.first
    }
}

extension WebPage {
    /// Returns the reply to a form that leads to a provider's page. If the address has one of the
    /// allowed origins, it is a redirect. Otherwise it is a page with the link.
    ///
    /// - Parameter origins: The origins to which the page with the form may redirect.
    static func providerRedirect(
        to address: String,
        allowing origins: [String],
        section: Section? = nil,
        for visit: WebVisit? = nil,
        in language: Language = .english
    ) -> Response {
        if origins.contains(where: { address.hasPrefix("\($0)/") }) {
            var headers = PagePolicy.web.fields
            headers[.location] = address
            return Response(status: .seeOther, headers: headers)
        }
        let isSafe = address.hasPrefix("https://")
        let words = language.wallet
        return WebPage(
            title: words.atProvider,
            section: section,
            language: language,
            content: """
                <section class="panel narrow">
                <p><a class="main" href="\(isSafe ? address : WebPath.start)">\(words.goOn)</a></p>
                <p class="quiet">\(words.providersPage)</p>
                </section>
                """
        )
        .response(for: visit)
    }
}
