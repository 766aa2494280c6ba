internal import GotchuCore
internal import HTTPTypes
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

extension HTTPRequestHead {
    /// The head with unescaped unreserved characters in its target, and with a substitute for each
    /// byte of target and header values that is not ASCII. Nothing that this server reads in a head
    /// has such bytes, and cookies and fields that it does not read may have them.
    var normalized: HTTPRequestHead {
        var head = self
        // First, because an escape may be complete only when another one is decoded.
        head.decodeUnreserved()
        if let target = head.uri.maskedTarget { head.uri = target }
        if let fields = maskedFields(headers) { head.headers = HTTPHeaders(fields) }
        return head
    }

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

    /// The request for the router; `nil` if it is not HTTP/1.1. HEAD is answered as GET, and the
    /// connection leaves out the body (RFC 9110, 9.3.2). So HEAD has the headers of GET everywhere.
    var routed: HTTPRequest? {
        var head = self
        if method == .HEAD { head.method = .GET }
        return try? HTTPRequest(head, secure: false, splitCookie: false)
    }

    /// Decodes the escapes of unreserved characters in the target. Such addresses are the same (RFC
    /// 3986, 6.2.2.2), so the routes and limits of the one must be those of the other.
    private mutating func decodeUnreserved() {
        guard uri.utf8.contains(UInt8(ascii: "%")) else { return }
        var bytes: [UInt8] = []
        var rest = Array(uri.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let plain = Self.unreserved(rest.prefix(2)) {
                bytes.append(plain)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        uri = String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the character with a code of two hexadecimal digits; `nil` if it is not unreserved.
    private static func unreserved(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard let byte = escapedByte(digits) else { return nil }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            return byte
        default: return nil
        }
    }

    /// Returns true for visible ASCII, except the characters that cannot be part of a host.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !#"/?#@\"<>"#.utf8.contains(byte)
    }
}
