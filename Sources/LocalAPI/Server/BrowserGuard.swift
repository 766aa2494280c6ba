import GotchuAPI
import HTTPTypes

/// Refuses requests from web pages: a page could reach a till through a proxy of its socket.
enum BrowserGuard {
    private static let fetchSite = HTTPField.Name.valid("Sec-Fetch-Site")
    private static let host = HTTPField.Name.valid("Host")

    static func admit(_ request: HTTPRequest) throws(Problem) {
        let fields = request.headerFields
        // The first `Host` became the authority (RFC 9112, 3.2: a request with two is refused).
        guard fields[host] == nil else {
            throw Problem.invalid("A request names one host.")
        }
        // Browsers send `none` only for addresses that the user entered.
        guard fields[.origin] == nil, fields[.referer] == nil,
            fields[fetchSite].map({ $0 == "none" }) ?? true, isLocal(request.authority ?? "")
        else {
            throw Problem(.browserRefused, detail: "Requests from web pages are refused.")
        }
    }

    /// Returns true if a host is this machine or a name without a dot, as clients of a Unix socket
    /// send. A page whose domain resolves to a proxy sends that domain, which has a dot.
    private static func isLocal(_ authority: String) -> Bool {
        let host = authority.prefix { $0 != ":" }
        return host == "127.0.0.1" || authority.hasPrefix("[::1]")
            || !host.contains { $0 == "." || $0 == "[" }
    }
}
