internal import NIOCore

/// Whom a limit counts: an IPv4 address, or an IPv6 network of 64 bits, since one subscriber has
/// all of those.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Reads the address out of `sockaddr_in` and `sockaddr_in6`, whose layouts Linux never
    /// changes.
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

    init(v4 address: [UInt8]) {
        bytes = address
    }

    /// An IPv4 client of a socket that speaks both comes as `::ffff:a.b.c.d`.
    init(v6 address: [UInt8]) {
        let isMapped = address.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        bytes = Array(isMapped ? address.suffix(4) : address.prefix(8))
    }
}
