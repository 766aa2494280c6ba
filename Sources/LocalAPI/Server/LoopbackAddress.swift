/// A TCP address that only this machine can reach: `127.0.0.1:PORT` or `[::1]:PORT`.
package struct LoopbackAddress: Equatable, Sendable, CustomStringConvertible {
    /// The host. An IPv6 address has no brackets here.
    package let host: String
    /// The port. If it is 0, the system chooses a free one.
    package let port: Int

    /// Parses an address; `nil` if the text has any other form.
    package init?(_ text: String) {
        guard let host = Self.hosts.first(where: { text.hasPrefix($0.written + ":") }),
            let port = UInt16(text.dropFirst(host.written.utf8.count + 1)),
            text == "\(host.written):\(port)"
        else { return nil }
        self.host = host.address
        self.port = Int(port)
    }

    private static let hosts = [
        (written: "127.0.0.1", address: "127.0.0.1"), (written: "[::1]", address: "::1"),
    ]

    package var description: String { "\(written):\(port)" }

    /// The host as written in a URL.
    var written: String { host == "::1" ? "[::1]" : host }

    /// Returns true if a `Host` names this machine, with or without a port. If a page's own domain
    /// was made to resolve to loopback (DNS rebinding), the page sends that domain, and the result
    /// is false.
    static func isNamed(by authority: String?) -> Bool {
        guard let authority = authority?.lowercased() else { return false }
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let host = end.map { authority[...$0] } ?? authority.prefix { $0 != ":" }
        return host == "localhost" || hosts.contains { $0.written == host }
    }
}
