import GotchuAPI
import HTTPTypes

/// Refuses requests from web pages. If a proxy serves the socket on a port, web pages can send
/// requests to it.
enum BrowserGuard {
    private static let fetchSite = HTTPField.Name.valid("Sec-Fetch-Site")
    private static let host = HTTPField.Name.valid("Host")

    static func admit(_ request: HTTPRequest) throws(Problem) {
        let fields = request.headerFields
        // The first `Host` is in `authority`, so this is a second one. RFC 9112, 3.2 forbids two.
        guard fields[host] == nil else {
            throw Problem.invalid("A request names one host.")
        }
        // A browser sends `none` only if the user entered the address.
        guard fields[.origin] == nil, fields[.referer] == nil,
            fields[fetchSite].map({ $0 == "none" }) ?? true, isLocal(request.authority ?? "")
        else {
            throw Problem(.browserRefused, detail: "Requests from web pages are refused.")
        }
    }

    /// Returns true if the host is a loopback address or a name without a dot. Clients of a Unix
    /// socket send such a name. If a page's domain resolves to a proxy of the socket, the page
    /// sends that domain, which has a dot.
    private static func isLocal(_ authority: String) -> Bool {
        let host = authority.prefix { $0 != ":" }
        return host == "127.0.0.1" || authority.hasPrefix("[::1]")
            || !host.contains { $0 == "." || $0 == "[" }
    }
}
