internal import GotchuAPI
internal import Hummingbird
internal import Pages

/// The addresses to which the payment provider's pages lead back. Coming back proves nothing: the
/// provider is asked.
struct ProviderReturns: Sendable {
    /// The pages' gate; `nil` where browsers are sent no others.
    let gate: WebGate?
    let setUp: SetUpPages

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
            "Ask for a fresh one: gotchu-ctl payouts setup, or whoever has sent it to you."
        )
        func add(_ path: String, _ handler: @escaping WebGate.Handler) {
            router.get(RouterPath(path), use: gate?.open(handler) ?? handler)
        }
        add(WebPath.deposited, coming(to: done, WebPath.wallet, .depositReturned))
        add(WebPath.depositLeft, coming(to: left, WebPath.wallet, .depositLeft))
        add(WebPath.connected, coming(to: connected, WebPath.payouts, .setUpReturned))
        for purpose in PayeeTicket.Purpose.allCases {
            let notice: WebNotice? = purpose == .renewal ? .setUpAgain : nil
            let plain = coming(to: again, WebPath.payouts, notice)
            add(purpose.path) { [setUp] request, context in
                if let page = setUp.page(for: request, purpose) { return page.response() }
                return try await plain(request, context)
            }
            let form: WebGate.Handler = { [setUp] request, _ in
                try await setUp.open(request, purpose)
            }
            router.post(RouterPath(purpose.path), use: gate?.open(form) ?? form)
        }
    }

    /// Makes the handler of an address: people who are logged in are led on to a page of ours.
    private func coming(
        to page: WebPage,
        _ next: String,
        _ notice: WebNotice?
    ) -> WebGate.Handler {
        { [gate] request, context in
            guard let gate else { return page.response() }
            // Somebody who came from elsewhere, such as a phone, has no login here.
            guard try await gate.visit(request, context) != nil else {
                return page.leading(to: next).response()
            }
            return gate.redirect(to: next, saying: notice)
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
