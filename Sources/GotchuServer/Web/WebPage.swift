internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Pages
internal import WebSessions

/// A page: the navigation, a banner, and the content.
struct WebPage: Sendable {
    /// The pages in the navigation.
    enum Section: CaseIterable {
        case earnings, payouts, contests, devices, webhooks, wallet

        fileprivate func name(in words: LayoutWords) -> String {
            switch self {
            case .earnings: words.earnings
            case .payouts: words.payouts
            case .contests: words.contests
            case .devices: words.devices
            case .webhooks: words.webhooks
            case .wallet: words.wallet
            }
        }

        fileprivate var path: String {
            switch self {
            case .earnings: WebPath.earnings
            case .payouts: WebPath.payouts
            case .contests: WebPath.contests
            case .devices: WebPath.devices
            case .webhooks: WebPath.webhooks
            case .wallet: WebPath.wallet
            }
        }

        /// The scope that a login needs for the page; `nil` if it needs none.
        fileprivate var scope: Scope? {
            switch self {
            case .earnings, .payouts, .devices, .webhooks: .payee
            case .contests, .wallet: nil
            }
        }
    }

    /// A sentence above the content.
    struct Banner: Sendable {
        let text: String
        let isBad: Bool
        let language: Language

        init(_ text: String, isBad: Bool = false, in language: Language = .english) {
            self.text = text
            self.isBad = isBad
            self.language = language
        }

        init(_ notice: WebNotice, in language: Language) {
            self.init(notice.text(in: language), isBad: notice.isRefusal, in: language)
        }
    }

    /// The default refresh interval of a page, in seconds.
    static let defaultRefreshInterval = 60
    /// The reload interval, in seconds, of a page that reports a temporary failure.
    private static let retry = 5

    let title: String
    var section: Section?
    /// An additional style sheet, besides those of every page.
    var style: Asset?
    var banner: Banner?
    /// The seconds after which the browser reloads the page; `nil` for never.
    var reload: Int?
    /// The time of the data on a page that a script refreshes; `nil` if the page is not refreshed.
    /// If the server does not answer, the page stays and is marked as stale.
    var asOf: HTML?
    /// The refresh interval of a page with `asOf`, in seconds.
    var refreshInterval = defaultRefreshInterval
    var policy = PagePolicy.web
    var language = Language.english
    /// Controls beside the heading.
    var controls: HTML?
    let content: HTML

    /// - Parameter visit: The visit of the logged-in user; `nil` without a login.
    func response(
        for visit: WebVisit? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let banner = banner ?? visit?.notice.map { Banner($0, in: language) }
        var headers = policy.fields
        headers[.contentType] = "text/html; charset=utf-8"
        let body = ByteBuffer(string: document(aside: aside(for: visit), banner).source)
        headers[.contentLength] = String(body.readableBytes)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    private func document(aside: HTML, _ banner: Banner?) -> HTML {
        let more = style.map { "<link rel=\"stylesheet\" href=\"\($0.path)\">" as HTML }
        let said = banner.map { banner -> HTML in
            let other: HTML? = banner.language == language ? nil : Self.spoken(banner.language)
            return banner.isBad
                ? "<p class=\"banner bad\" role=\"alert\"\(other)>\(banner.text)</p>"
                : "<p class=\"banner\" role=\"status\"\(other)>\(banner.text)</p>"
        }
        let stale = asOf.map { time -> HTML in
            """
            <p class="banner stale" role="status" hidden>\(HTML.filled(words.stale, time))</p>
            """
        }
        return """
            <!doctype html>
            <html\(Self.spoken(language))>
            <head>
            <meta charset="utf-8">
            <title>\(title) · gotchu</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="\(Asset.icon.path)">
            <link rel="stylesheet" href="\(Asset.tokens.path)">
            <link rel="stylesheet" href="\(Asset.web.path)">\(more)\(script)
            </head>
            <body>
            <a class="skip" href="#main">\(words.skip)</a>
            \(aside)
            <main id="main" tabindex="-1"\(seconds)>
            <header class="head"><h1>\(title)</h1>\(controls)</header>
            \(said)\(stale)
            \(content)
            </main>
            </body>
            </html>

            """
    }

    /// The script that refreshes a page. A page with `reload` also reloads in browsers without
    /// scripts.
    private var script: HTML? {
        guard reload != nil || asOf != nil else { return nil }
        let without = reload.map { seconds -> HTML in
            "<noscript><meta http-equiv=\"refresh\" content=\"\(seconds)\"></noscript>"
        }
        return "<script type=\"module\" src=\"\(Asset.refreshScript.path)\"></script>\(without)"
    }

    private var seconds: HTML? {
        (reload ?? asOf.map { _ in refreshInterval }).map { " data-seconds=\"\($0)\"" }
    }

    private var words: LayoutWords { language.layout }

    /// Returns the attributes for an element in a language.
    static func spoken(_ language: Language) -> HTML {
        " lang=\"\(language.rawValue)\" dir=\"\(language.isRightToLeft ? "rtl" : "ltr")\""
    }

    private func aside(for visit: WebVisit?) -> HTML {
        guard let visit else {
            return "<header class=\"side\"><p class=\"brand\">gotchu</p></header>"
        }
        let links = Section.allCases
            .filter { !visit.hiddenSections.contains($0) && ($0.scope.map(visit.allows) ?? true) }
            .map { item -> HTML in
                let current: HTML? = item == section ? " aria-current=\"page\"" : nil
                let badge = badge(of: item, for: visit)
                let name = item.name(in: words)
                return "<a href=\"\(item.path)\"\(current)>\(name)\(badge)</a>"
            }
        return """
            <header class="side"><p class="brand">gotchu</p>
            <nav aria-label="\(words.pages)">\(links)</nav>
            <div class="who"><bdi>\(visit.session.userName)</bdi>
            \(visit.form(to: WebPath.logout, "<button>\(words.logOut)</button>"))</div></header>
            """
    }
}

extension WebPage {
    /// Returns the badge after a page's name in the navigation.
    private func badge(of section: Section, for visit: WebVisit) -> HTML? {
        if section == .webhooks && visit.hasWebhookFailures {
            return """
                 <span class="badge"><span aria-hidden="true">!</span>\
                <span class="visually-hidden">\(words.failed)</span></span>
                """
        }
        guard section == .devices && visit.deviceCount > 0 else { return nil }
        return " <span class=\"badge count\">\(visit.deviceCount)</span>"
    }

    /// Returns the page for a form submission with an unknown outcome. Its form resubmits the same
    /// fields.
    ///
    /// - Parameters:
    ///   - path: The address of the form.
    ///   - fields: The form's fields, with the same idempotency key.
    static func unknownOutcome(
        _ title: String,
        section: Section,
        _ text: String,
        again path: String,
        _ fields: HTML,
        for visit: WebVisit,
        in language: Language = .english
    ) -> Response {
        let words = language.layout
        let button: HTML = "<button class=\"main\">\(words.checkOutcome)</button>"
        let page = WebPage(
            title: title,
            section: section,
            banner: Banner(text, isBad: true, in: language),
            language: language,
            content: """
                <section class="panel">\(visit.form(to: path, "\(fields)\(button)"))
                <p class="quiet">\(words.sameAgain)</p></section>
                """
        )
        return page.response(for: visit, status: .serviceUnavailable)
    }

    /// Returns the page for a failed request: the reason, its code and the request id.
    static func problem(_ problem: Problem, of request: Request) -> WebPage {
        let language = WebPath.isPayerPage(request.uri.path) ? request.language : .english
        let words = language.layout
        let title =
            switch problem.status {
            case 404: words.nothingHere
            case 429, 500...: words.notNow
            default: words.notPossible
            }
        // A page that only reads may reload automatically. A form must not be sent again.
        let isRepeated = request.method == .get && problem.status == 503
        let fix = problem.fix.map { "<p\(spoken(.english))>\($0)</p>" as HTML }
        let again: HTML? =
            isRepeated ? "<p>\(words.triesAgain.filled("\(retry)"))</p>" : nil
        let back = WebPath.parentPath(of: request.uri.path)
        let login: HTML? =
            problem.status != 401
            ? nil
            : """
            <p><a class="main" href="\(WebPath.login(returningTo: back))">\(words.logIn)</a></p>
            """
        let link =
            if back == WebPath.start {
                words.toStart
            } else if WebPath.isContest(back) {
                words.toContest
            } else {
                words.toRequest
            }
        return WebPage(
            title: title,
            banner: Banner(problem.detail, isBad: true),
            reload: isRepeated ? retry : nil,
            language: language,
            content: """
                <section class="panel">\(fix)\(again)\(login)
                <p>\(words.code) <code>\(problem.code)</code> · \(words.request) \
                <code>\(problem.requestID ?? "")</code></p>
                <p><a href="\(back)">\(link)</a></p></section>
                """
        )
    }
}

extension PagePolicy {
    var fields: HTTPFields {
        var fields = HTTPFields()
        for header in headers { fields[.known(header.name)] = header.value }
        return fields
    }
}
