internal import NIOCore

/// The address of a client. For rate limits, all addresses with the same first 64 bits of IPv6 are
/// equal: one subscriber usually has all of them.
struct ClientAddress: Hashable, Sendable {
    /// The longest text of an address with brackets and a port, in bytes.
    private static let textLimit = 64

    /// 4 or 16 bytes; none without an IP address, when all clients share one value.
    let bytes: [UInt8]

    init(v4 address: [UInt8]) {
        bytes = address
    }

    /// Unwraps `::ffff:a.b.c.d`, the address of an IPv4 client on a dual-stack socket.
    init(v6 address: [UInt8]) {
        let isMapped = address.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        bytes = isMapped ? Array(address.suffix(4)) : address
    }

    /// Reads the address from `sockaddr_in` or `sockaddr_in6`. Linux never changes their layouts.
    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let address):
            self.init(v4: withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
        case .v6(let address):
            self.init(v6: withUnsafeBytes(of: address.address) { Array($0[8..<24]) })
        case .unixDomainSocket, nil:
            self.init(v4: [])
        }
    }

    /// Parses an address without a port.
    init?(_ text: String) {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        self.init(address)
    }

    /// Parses an element of `X-Forwarded-For`. Some proxies write the client's port, and with it
    /// brackets around an IPv6 address: `203.0.113.5:1234`, `[2001:db8::1]:443`.
    init?(forwarded element: Substring.UTF8View) {
        guard element.count <= Self.textLimit, element.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = Substring(element)
        var (host, port) = (text, Substring())
        if let end = text.lastIndex(of: "]"), text.first == "[" {
            host = text[text.index(after: text.startIndex)..<end]
            port = text[text.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            (host, port) = (text[..<colon], text[colon...])
        }
        guard port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil else {
            return nil
        }
        self.init(String(host))
    }

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The bytes that count for rate limits.
    private var subscriber: ArraySlice<UInt8> { bytes.prefix(8) }

    static func == (one: ClientAddress, other: ClientAddress) -> Bool {
        one.subscriber == other.subscriber && one.bytes.count == other.bytes.count
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(subscriber)
    }
}

extension ClientAddress: CustomStringConvertible {
    /// The address in its usual notation.
    var description: String { NetworkAddress(bytes: bytes).text }
}
