import Glibc

/// The address of a payment server: `http` or `https`, a host, and optionally a port and a path
/// prefix.
package struct ServerURL: Hashable, Sendable, CustomStringConvertible {
    /// The URL without a trailing slash.
    package let description: String

    /// The host without the port: a name or an address.
    package let host: String

    /// The port; `nil` for the scheme's default.
    let port: UInt16?

    /// A Boolean that is true if calls are encrypted or stay on this machine.
    package let isPrivate: Bool

    /// The visible characters that a URL must not contain.
    private static let forbidden = Set("\"<>@?#\\".utf8)

    /// Parses a URL.
    ///
    /// - Returns: `nil` if the text is not `http://` or `https://` with a host, in visible ASCII.
    ///   User information, query and fragment are not allowed: a URL must not contain a secret.
    package init?(_ text: String) {
        // Bytes, because one `Character` may hold an allowed and a forbidden one.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.forbidden.contains($0) })
        else { return nil }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "http" || parts[0] == "https" else { return nil }
        let rest = parts[1]
        let authority = rest.prefix { $0 != "/" }
        guard let (host, port) = Self.hostAndPort(of: authority) else { return nil }
        var kept = text
        while kept.hasSuffix("/") { kept.removeLast() }
        description = kept
        self.host = String(host)
        self.port = port
        isPrivate = parts[0] == "https" || Self.isLoopback(host)
    }

    /// Returns true if a host is this machine. `localhost` is the only name accepted, because it is
    /// reserved (RFC 6761). Any other name may resolve to another machine.
    private static func isLoopback(_ host: Substring) -> Bool {
        var address = in_addr()
        return host == "localhost" || host == "[::1]"
            || inet_pton(AF_INET, String(host), &address) == 1 && host.hasPrefix("127.")
    }

    /// Splits `host`, `host:port`, `[v6]` or `[v6]:port`; `nil` for any other form.
    private static func hostAndPort(of authority: Substring) -> (Substring, UInt16?)? {
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
        guard let port else { return (host, nil) }
        // `UInt16` also accepts a sign.
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port),
            number > 0
        else { return nil }
        return (host, number)
    }
}
