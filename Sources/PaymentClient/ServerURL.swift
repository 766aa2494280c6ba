/// Where a payment server is: `http` or `https`, a host, maybe a port, maybe a path prefix.
package struct ServerURL: Hashable, Sendable, CustomStringConvertible {
    /// Without a trailing slash.
    package let description: String

    /// Whether what is said to this server cannot be read on the way, or never leaves this machine.
    package let isPrivate: Bool

    /// Reads a URL.
    ///
    /// - Returns: `nil` unless it is `http://` or `https://` followed by a host, without user
    ///   information (a secret has no place in a URL), query or fragment.
    package init?(_ text: String) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "http" || parts[0] == "https" else { return nil }
        let rest = parts[1]
        guard !rest.contains(where: { " \t\r\n\"<>@?#\\".contains($0) }) else { return nil }
        let authority = rest.prefix { $0 != "/" }
        guard let host = Self.host(of: authority) else { return nil }
        var kept = text
        while kept.hasSuffix("/") { kept.removeLast() }
        description = kept
        let loopback = host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
        isPrivate = parts[0] == "https" || loopback
    }

    /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`; `nil` if it is none of these.
    private static func host(of authority: Substring) -> Substring? {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty else { return nil }
        if let port {
            guard let number = UInt16(port), number > 0 else { return nil }
        }
        return host
    }
}
