internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Pages

/// The addresses to which the payment provider's pages return. A return does not prove a payment or
/// a set-up. The state is read from the provider.
struct ProviderReturns: Sendable {
    /// The gate of the web pages; `nil` if they are disabled.
    let gate: WebGate?
    let setUp: SetUpPages

    func register(on router: Router<ServerContext>) {
        func add(_ path: String, _ handler: @escaping WebGate.Handler) {
            router.get(RouterPath(path), use: gate?.open(handler) ?? handler)
        }
        add(
            WebPath.deposited,
            returnHandler(redirectingTo: WebPath.wallet, .depositReturned) {
                ($0.wallet.back, $0.wallet.backText)
            }
        )
        add(
            WebPath.depositCancelled,
            returnHandler(redirectingTo: WebPath.wallet, .depositLeft) {
                ($0.wallet.left, $0.wallet.leftText)
            }
        )
        let connected = returnHandler(redirectingTo: WebPath.payouts, .setUpReturned) { _ in
            (
                "Back from the payment provider's pages",
                "The provider now looks at what you entered. gotchu-ctl payouts says your status."
            )
        }
        add(WebPath.connected, connected)
        for path in [WebPath.connect, WebPath.connectRefresh] {
            let notice: WebNotice? = path == WebPath.connectRefresh ? .setUpAgain : nil
            let plain = returnHandler(redirectingTo: WebPath.payouts, notice) { _ in
                (
                    "That link was used, or is too old",
                    "Ask for a fresh one: gotchu-ctl payouts setup, or whoever has sent it to you."
                )
            }
            add(path) { [setUp] request, context in
                if let page = setUp.page(for: request, at: path) { return page.response() }
                return try await plain(request, context)
            }
            let form: WebGate.Handler = { [setUp] request, _ in
                try await setUp.open(request, at: path)
            }
            router.post(RouterPath(path), use: gate?.open(form) ?? form)
        }
    }

    /// Makes the handler of a return address. It redirects people with a login to a page of this
    /// server, and shows others a text.
    ///
    /// - Parameters:
    ///   - next: The address of this server's page, which shows `notice`.
    ///   - words: Returns the title and text for people without a login, in a language.
    private func returnHandler(
        redirectingTo next: String,
        _ notice: WebNotice?,
        _ words: @escaping @Sendable (Language) -> (title: String, text: String)
    ) -> WebGate.Handler {
        @Sendable func page(_ request: Request, hasLink: Bool) -> Response {
            let language = WebPath.isPayerPage(request.uri.path) ? request.language : .english
            let (title, text) = words(language)
            let link: HTML? =
                hasLink
                ? "<p><a class=\"plain\" href=\"\(next)\">\(language.wallet.goOnHere)</a></p>" : nil
            return WebPage(
                title: title,
                language: language,
                content: "<section class=\"panel narrow\"><p>\(text)</p></section>\(link)"
            )
            .response()
        }
        return { [gate] request, context in
            guard let gate else { return page(request, hasLink: false) }
            // A person who continues on another device, such as a phone, has no login there.
            guard try await gate.visit(request, context) != nil else {
                return page(request, hasLink: true)
            }
            return gate.redirect(to: next, saying: notice)
        }
    }
}
