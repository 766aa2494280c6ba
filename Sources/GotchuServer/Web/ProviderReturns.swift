internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Pages

/// The addresses to which the payment provider's pages lead back. Coming back proves nothing: the
/// provider is asked.
struct ProviderReturns: Sendable {
    /// The pages' gate; `nil` where browsers are sent no others.
    let gate: WebGate?

    func register(on router: Router<ServerContext>) {
        add(WebPath.deposited, to: router, WebPath.wallet, .depositReturned) { language in
            (language.wallet.back, language.wallet.backText)
        }
        add(WebPath.depositLeft, to: router, WebPath.wallet, .depositLeft) { language in
            (language.wallet.left, language.wallet.leftText)
        }
        add(WebPath.connected, to: router, WebPath.payouts, .setUpReturned) { _ in
            (
                "Back from the payment provider's pages",
                "The provider now looks at what you entered. gotchu-ctl payouts says your status."
            )
        }
        for (path, notice) in [
            (WebPath.connectAgain, .setUpAgain), (WebPath.connect, nil),
        ] as [(String, WebNotice?)] {
            add(path, to: router, WebPath.payouts, notice) { _ in
                (
                    "That link was used, or is too old",
                    "Ask for a fresh one: gotchu-ctl payouts setup."
                )
            }
        }
    }

    /// - Parameters:
    ///   - next: The page of ours for people who are logged in, which says `notice`.
    ///   - words: Returns the title and the sentence for others, in a language.
    private func add(
        _ path: String,
        to router: Router<ServerContext>,
        _ next: String,
        _ notice: WebNotice?,
        _ words: @escaping @Sendable (Language) -> (title: String, text: String)
    ) {
        @Sendable func page(_ request: Request, isLeading: Bool) -> Response {
            let language = WebPath.isPayers(path) ? request.language : .english
            let (title, text) = words(language)
            let link: HTML? =
                isLeading
                ? "<p><a class=\"plain\" href=\"\(next)\">\(language.wallet.goOnHere)</a></p>" : nil
            return WebPage(
                title: title,
                language: language,
                content: "<section class=\"panel narrow\"><p>\(text)</p></section>\(link)"
            )
            .response()
        }
        guard let gate else {
            router.get(RouterPath(path)) { request, _ in page(request, isLeading: false) }
            return
        }
        router.get(
            RouterPath(path),
            use: gate.open { request, context in
                // Somebody who came from elsewhere, such as a phone, has no login here.
                guard try await gate.visit(request, context) != nil else {
                    return page(request, isLeading: true)
                }
                return gate.redirect(to: next, saying: notice)
            }
        )
    }
}

extension WebGate {
    /// Returns the reply to a form that leads to a page of the provider's: 303 where a browser
    /// follows a form's answer, else a page with the link.
    ///
    /// - Parameter sites: The origins that the form's page may lead to.
    func leave(
        _ visit: WebVisit,
        to address: String,
        of sites: [String],
        section: WebPage.Section,
        in language: Language = .english
    ) -> Response {
        if (sites + [site.origin]).contains(where: { address.hasPrefix("\($0)/") }) {
            return redirect(to: address)
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
