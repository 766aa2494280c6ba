internal import NIOCore

/// An address for rate limits: an IPv4 address, or the first 64 bits of an IPv6 address. One
/// subscriber usually has all addresses of such a network.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]
    private let isLoopbackV6: Bool

    /// Reads the address from `sockaddr_in` or `sockaddr_in6`. Linux never changes their layouts.
    /// Without an IP address, all clients share one value.
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

    var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : isLoopbackV6 }

    init(v4 address: [UInt8]) {
        bytes = address
        isLoopbackV6 = false
    }

    /// Unwraps `::ffff:a.b.c.d`, the address of an IPv4 client on a dual-stack socket.
    init(v6 address: [UInt8]) {
        let isMapped = address.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        bytes = Array(isMapped ? address.suffix(4) : address.prefix(8))
        isLoopbackV6 = !isMapped && address == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    }
}
