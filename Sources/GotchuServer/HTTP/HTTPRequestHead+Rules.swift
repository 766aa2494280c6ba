internal import NIOHTTP1

extension HTTPRequestHead {
    /// A Boolean that is true if the request has exactly one valid host. With two hosts, a proxy
    /// might use one and this server the other. An HTTP/1.0 request may have none.
    var namesItsHost: Bool {
        let hosts = headers["Host"]
        return hosts.allSatisfy { $0.utf8.allSatisfy(Self.isOfHost) }
            && (hosts.count == 1 || hosts.isEmpty && version == .http1_0)
    }

    /// A Boolean that is true if the client waits for 100 Continue before it sends the body.
    var expectsContinue: Bool {
        headers["Expect"].contains { $0.lowercased() == "100-continue" }
    }

    /// Returns true for visible ASCII, except the characters that cannot be part of a host.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !#"/?#@\"<>"#.utf8.contains(byte)
    }
}
