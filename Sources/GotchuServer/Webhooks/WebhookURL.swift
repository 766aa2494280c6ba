/// The URL of a webhook: `https://host[:port][/path][?query]`. It is parsed here, so the called URL
/// is exactly the checked one.
struct WebhookURL: Equatable, Sendable {
    private static let maximumLength = 2_000

    let scheme: String
    /// The host in lower case. An IPv6 address has no brackets.
    let host: String
    let port: Int
    /// The path with the query. It begins with a slash.
    let target: String

    /// - Returns: `nil` unless the text is an http or https URL without user and fragment.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
            !text.contains(where: { "\"<>\\^`{|}#".contains($0) }),
            let colon = text.firstIndex(of: ":")
        else { return nil }
        scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http", text[colon...].hasPrefix("://") else {
            return nil
        }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let tail = rest[end...]
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail
        guard let place = Self.hostAndPort(rest[..<end]) else { return nil }
        host = place.host
        port = place.port ?? (scheme == "https" ? 443 : 80)
    }

    private static func hostAndPort(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var port: Int?
        let isBracketed = authority.hasPrefix("[")
        if let colon = authority.lastIndex(of: ":"), !isBracketed || authority[colon...].count > 1,
            !authority[colon...].contains("]")
        {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0
            else { return nil }
            port = Int(number)
            host = authority[..<colon]
        }
        let name = host.lowercased()
        if isBracketed {
            let address = name.dropFirst().dropLast()
            guard name.hasSuffix("]"), !address.isEmpty,
                address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
            return (String(address), port)
        }
        let isPlain = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard isPlain, !name.isEmpty, name.utf8.count <= 253 else { return nil }
        return (name, port)
    }

    /// The canonical form, which is stored and called.
    var text: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let defaultPort = scheme == "https" ? 443 : 80
        return "\(scheme)://\(name)\(port == defaultPort ? "" : ":\(port)")\(target)"
    }
}
