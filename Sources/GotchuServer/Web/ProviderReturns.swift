internal import GotchuAPI
internal import Hummingbird
internal import Pages

/// The addresses to which the payment provider's pages lead back. Coming back proves nothing: the
/// provider is asked.
struct ProviderReturns: Sendable {
    /// The pages' gate; `nil` where browsers are sent no others.
    let gate: WebGate?

    func register(on router: Router<ServerContext>) {
        let done = Self.page(
            "Back from the payment page",
            "If you have paid, the money is in the wallet as soon as the payment provider has "
                + "confirmed it. It cannot be charged twice."
        )
        let left = Self.page(
            "The payment page was left",
            "If you have not paid, nothing is charged. The wallet says what became of it."
        )
        let connected = Self.page(
            "Back from the payment provider's pages",
            "The provider now looks at what you entered. gotchu-ctl payouts says your status."
        )
        let again = Self.page(
            "That link was used, or is too old",
            "Ask for a fresh one: gotchu-ctl payouts setup."
        )
        let pages: [(path: String, page: WebPage, next: String, notice: WebNotice?)] = [
            (WebPath.deposited, done, WebPath.wallet, .depositReturned),
            (WebPath.depositLeft, left, WebPath.wallet, .depositLeft),
            (WebPath.connected, connected, WebPath.payouts, .setUpReturned),
            (WebPath.connectAgain, again, WebPath.payouts, .setUpAgain),
            (WebPath.connect, again, WebPath.payouts, nil),
        ]
        for (path, page, next, notice) in pages {
            guard let gate else {
                router.get(RouterPath(path)) { _, _ in page.response() }
                continue
            }
            router.get(
                RouterPath(path),
                use: gate.open { request, context in
                    // Somebody who came from elsewhere, such as a phone, has no login here.
                    guard try await gate.visit(request, context) != nil else {
                        return page.leading(to: next).response()
                    }
                    return gate.redirect(to: next, saying: notice)
                }
            )
        }
    }

    private static func page(_ title: String, _ text: String) -> WebPage {
        WebPage(title: title, content: "<section class=\"panel narrow\"><p>\(text)</p></section>")
    }
}

extension WebPage {
    /// The page with a link to one of ours.
    fileprivate func leading(to path: String) -> WebPage {
        WebPage(
            title: title,
            content: "\(content)<p><a class=\"plain\" href=\"\(path)\">Go on here</a></p>"
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
        section: WebPage.Section
    ) -> Response {
        if (sites + [site.origin]).contains(where: { address.hasPrefix("\($0)/") }) {
            return redirect(to: address)
        }
        let isSafe = address.hasPrefix("https://")
        return WebPage(
            title: "Go on at the payment provider",
            section: section,
            content: """
                <section class="panel narrow">
                <p><a class="main" href="\(isSafe ? address : WebPath.start)">Go on</a></p>
                <p class="quiet">The page is the payment provider's, and leads back here.</p>
                </section>
                """
        )
        .response(for: visit)
    }
}
