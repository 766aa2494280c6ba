internal import ServiceProcess

/// The server's address for browsers: `https://pay.example`, without a path.
struct PublicURL: Equatable, Sendable {
    /// The origin, as browsers write it in `Origin`: lower case, without the default port.
    let origin: String
    /// The host with its port, as browsers write it in `Host`: without the default port.
    let authority: String
    let isLoopback: Bool

    /// Parses `https://HOST[:PORT]`. `http` is accepted for this machine only, because others could
    /// read an unencrypted login on the network.
    init?(_ text: String) {
        let text = text.lowercased()
        guard let scheme = text.firstRange(of: "://") else { return nil }
        var authority = text[scheme.upperBound...]
        if authority.hasSuffix("/") { authority.removeLast() }
        let isSecure = text[..<scheme.lowerBound] == "https"
        guard isSecure || text[..<scheme.lowerBound] == "http" else { return nil }
        let defaultPort = isSecure ? ":443" : ":80"
        if authority.hasSuffix(defaultPort) { authority.removeLast(defaultPort.count) }
        let named = authority.last == "]" || !authority.contains(":") ? authority + ":1" : authority
        guard let address = ListenAddress(String(named)), address.port > 0,
            address.host.utf8.allSatisfy(Self.isOfHost), isSecure || address.isLoopback
        else { return nil }
        origin = "\(text[..<scheme.lowerBound])://\(authority)"
        self.authority = String(authority)
        isLoopback = address.isLoopback
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

extension PublicURL: SettingValue {
    static let rule =
        "A public URL is written as https://HOST, without a path; http is for this machine only."
}
