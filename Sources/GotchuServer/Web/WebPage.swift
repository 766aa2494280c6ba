internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Pages
internal import WebSessions

/// A page with its frame: the navigation, a notice, and the content.
struct WebPage: Sendable {
    /// The pages that the navigation names.
    enum Section: CaseIterable {
        case earnings, payouts, contests, devices, webhooks, wallet

        fileprivate var name: String {
            switch self {
            case .earnings: "Earnings"
            case .payouts: "Payouts"
            case .contests: "Contests"
            case .devices: "Devices"
            case .webhooks: "Webhooks"
            case .wallet: "Wallet"
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

        /// The right without which a login has no such page.
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
        var isBad = false

        init(_ text: String, isBad: Bool = false) {
            self.text = text
            self.isBad = isBad
        }

        init(_ notice: WebNotice) {
            self.init(notice.text, isBad: notice.isRefusal)
        }
    }

    /// The seconds after which a page that is looked at is brought up to date.
    static let usualRenewal = 60

    let title: String
    var section: Section?
    /// A style sheet beside those of every page.
    var style: Asset?
    var banner: Banner?
    /// The seconds after which the browser loads the page anew; `nil` for never.
    var reload: Int?
    /// The time of what it shows, if it is brought up to date while it is looked at: it stays, and
    /// says that it is old, while the server does not answer.
    var asOf: HTML?
    /// The seconds after which such a page is brought up to date.
    var renewal = usualRenewal
    var policy = PagePolicy.web
    /// The language of the content.
    var language = Language.english
    /// Controls beside the heading.
    var controls: HTML?
    let content: HTML

    /// Renders the page.
    ///
    /// - Parameter visit: The visit of the person who is logged in, if there is one.
    func response(
        for visit: WebVisit? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let banner = banner ?? visit?.notice.map { Banner($0) }
        var headers = policy.fields
        headers[.contentType] = "text/html; charset=utf-8"
        let body = ByteBuffer(string: document(aside: aside(for: visit), banner).source)
        headers[.contentLength] = String(body.readableBytes)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    private func document(aside: HTML, _ banner: Banner?) -> HTML {
        let more = style.map { "<link rel=\"stylesheet\" href=\"\($0.path)\">" as HTML }
        let said = banner.map { banner -> HTML in
            banner.isBad
                ? "<p class=\"banner bad\" role=\"alert\"\(english)>\(banner.text)</p>"
                : "<p class=\"banner\" role=\"status\"\(english)>\(banner.text)</p>"
        }
        let stale = asOf.map { time -> HTML in
            """
            <p class="banner stale" role="status"\(english) hidden>As of \(time). The server does
            not answer; what is newer is missing here.</p>
            """
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>\(title) · gotchu</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="\(Asset.icon.path)">
            <link rel="stylesheet" href="\(Asset.tokens.path)">
            <link rel="stylesheet" href="\(Asset.web.path)">\(more)\(script)
            </head>
            <body>
            <a class="skip" href="#main">To the content</a>
            \(aside)
            <main id="main" tabindex="-1"\(seconds)\(spoken)>
            <header class="head"><h1>\(title)</h1>\(controls)</header>
            \(said)\(stale)
            \(content)
            </main>
            </body>
            </html>

            """
    }

    /// The script that brings a page up to date. A page that waits for something does without, too.
    private var script: HTML? {
        guard reload != nil || asOf != nil else { return nil }
        let without = reload.map { seconds -> HTML in
            "<noscript><meta http-equiv=\"refresh\" content=\"\(seconds)\"></noscript>"
        }
        return "<script type=\"module\" src=\"\(Asset.renewal.path)\"></script>\(without)"
    }

    private var seconds: HTML? {
        (reload ?? asOf.map { _ in renewal }).map { " data-seconds=\"\($0)\"" }
    }

    /// The attributes of a content that is not in English.
    private var spoken: HTML? {
        guard language != .english else { return nil }
        let direction = language.contestPage.isRightToLeft ? "rtl" : "ltr"
        return " lang=\"\(language.rawValue)\" dir=\"\(direction)\""
    }

    /// The attributes of an English sentence in it.
    private var english: HTML? {
        language == .english ? nil : " lang=\"en\" dir=\"ltr\""
    }

    private func aside(for visit: WebVisit?) -> HTML {
        guard let visit else {
            return "<header class=\"side\"><p class=\"brand\">gotchu</p></header>"
        }
        let links = Section.allCases
            .filter { !visit.hidden.contains($0) && ($0.scope.map(visit.allows) ?? true) }
            .map { item -> HTML in
                let current: HTML? = item == section ? " aria-current=\"page\"" : nil
                let badge: HTML? =
                    item == .webhooks && visit.hasWebhookTrouble
                    ? """
                     <span class="badge"><span aria-hidden="true">!</span>\
                    <span class="visually-hidden">failed</span></span>
                    """ : nil
                return "<a href=\"\(item.path)\"\(current)>\(item.name)\(badge)</a>"
            }
        return """
            <header class="side"><p class="brand">gotchu</p>
            <nav aria-label="Pages">\(links)</nav>
            <div class="who"><bdi>\(visit.session.userName)</bdi>
            \(visit.form(to: WebPath.logout, "<button>Log out</button>"))</div></header>
            """
    }
}

extension WebPage {
    /// The button of a form that sends a press once more.
    static let findOut: HTML = "<button class=\"main\">Find out</button>"

    /// The page for a press of which it is not known whether it was carried out.
    ///
    /// - Parameter again: The same form with the same key.
    static func unknown(
        _ title: String,
        section: Section,
        _ text: String,
        again: HTML
    ) -> WebPage {
        WebPage(
            title: title,
            section: section,
            banner: Banner(text, isBad: true),
            content: """
                <section class="panel">\(again)
                <p class="quiet">The button sends the same again, with the same key: it is done
                once.</p></section>
                """
        )
    }

    /// The page that says why a request failed, with its code and its id.
    static func problem(_ problem: Problem, of request: Request) -> WebPage {
        let title =
            switch problem.status {
            case 404: "There is nothing here"
            case 429, 500...: "This does not work just now"
            default: "This cannot be done"
            }
        // A page that only reads may be asked for again; a form never by itself.
        let isRepeated = request.method == .get && problem.status == 503
        let fix = problem.fix.map { "<p>\($0)</p>" as HTML }
        let again: HTML? = isRepeated ? "<p>This page tries again by itself in 5 seconds.</p>" : nil
        let back = WebPath.back(from: request.uri.path)
        let login: HTML? =
            problem.status != 401
            ? nil
            : "<p><a class=\"main\" href=\"\(WebPath.login(returningTo: back))\">Log in</a></p>"
        let link: HTML =
            if back == WebPath.start {
                "To the start"
            } else if WebPath.isContest(back) {
                "To the contest"
            } else {
                "To the request"
            }
        return WebPage(
            title: title,
            banner: Banner(problem.detail, isBad: true),
            reload: isRepeated ? 5 : nil,
            content: """
                <section class="panel">\(fix)\(again)\(login)
                <p>Code <code>\(problem.code)</code> · request \
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
