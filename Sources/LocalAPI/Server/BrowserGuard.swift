import GotchuAPI
import HTTPTypes

/// Refuses requests that a page in a browser sends, which could reach a till through a proxy of its
/// socket.
enum BrowserGuard {
    private static let fetchSite = HTTPField.Name.valid("Sec-Fetch-Site")
    private static let host = HTTPField.Name.valid("Host")

    static func admit(_ request: HTTPRequest) throws(Problem) {
        let fields = request.headerFields
        // The first one is the authority already (RFC 9112, 3.2: a request with two is refused).
        guard fields[host] == nil else {
            throw Problem.invalid("A request names one host.")
        }
        // A browser sends `none` only for an address that a person typed.
        guard fields[.origin] == nil, fields[.referer] == nil,
            fields[fetchSite].map({ $0 == "none" }) ?? true, isLocal(request.authority ?? "")
        else {
            throw Problem(.browserRefused, detail: "Requests from web pages are refused.")
        }
    }

    /// True if a host is a plain word, as clients of a Unix socket send it, or this machine. A page
    /// that has its own name resolve to a proxy sends that name, which has a domain.
    private static func isLocal(_ authority: String) -> Bool {
        let host = authority.prefix { $0 != ":" }
        return host == "127.0.0.1" || authority.hasPrefix("[::1]")
            || !host.contains { $0 == "." || $0 == "[" }
    }
}
