internal import Glibc

/// An IP address of a host.
struct NetworkAddress: Equatable, Sendable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// The address in its usual notation.
    var text: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        inet_ntop(family, bytes, &buffer, socklen_t(buffer.count))
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }

    var isLoopback: Bool {
        if let embedded { return embedded.isLoopback }
        return bytes.count == 4
            ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// A Boolean that is true for a public Internet address. Private, link-local, loopback and
    /// reserved addresses are not public (IANA's special-purpose registries).
    var isPublic: Bool {
        if bytes.count == 4 { return !Self.reserved4.contains { $0.contains(bytes) } }
        // An IPv4 address that is embedded in IPv6 never counts as public.
        guard bytes.count == 16, embedded == nil else { return false }
        let isGlobalUnicast = bytes[0] & 0xE0 == 0x20
        return isGlobalUnicast && !Self.reserved6.contains { $0.contains(bytes) }
    }

    /// The IPv4 address of `::ffff:a.b.c.d`; `nil` for any other address.
    private var embedded: NetworkAddress? {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        guard bytes.count == 16, Array(bytes.prefix(12)) == mapped else { return nil }
        return NetworkAddress(bytes: Array(bytes.suffix(4)))
    }

    /// The addresses of one family that begin with the same bits.
    struct Block: Equatable, Sendable {
        let prefix: [UInt8]
        /// The number of these bits.
        let length: Int

        /// - Parameter bytes: An address of the block's family.
        func contains(_ bytes: [UInt8]) -> Bool {
            for bit in 0..<length {
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                if prefix[bit / 8] & mask != bytes[bit / 8] & mask { return false }
            }
            return true
        }
    }

    private static let reserved4 = [
        Block(prefix: [0], length: 8), Block(prefix: [10], length: 8),
        Block(prefix: [100, 64], length: 10), Block(prefix: [127], length: 8),
        Block(prefix: [169, 254], length: 16), Block(prefix: [172, 16], length: 12),
        Block(prefix: [192, 0, 0], length: 24), Block(prefix: [192, 0, 2], length: 24),
        Block(prefix: [192, 88, 99], length: 24), Block(prefix: [192, 168], length: 16),
        Block(prefix: [198, 18], length: 15), Block(prefix: [198, 51, 100], length: 24),
        Block(prefix: [203, 0, 113], length: 24), Block(prefix: [224], length: 3),
    ]

    /// Prefixes of protocol assignments, tunnels that carry an IPv4 address, and documentation.
    private static let reserved6 = [
        Block(prefix: [0x20, 0x01, 0x00], length: 23),
        Block(prefix: [0x20, 0x01, 0x0D, 0xB8], length: 32),
        Block(prefix: [0x20, 0x02], length: 16), Block(prefix: [0x3F, 0xFF, 0x00], length: 20),
    ]

    /// Returns all addresses of a host. Blocks for as long as the resolver takes.
    static func all(of host: String) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [NetworkAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                // The layouts of sockaddr_in and sockaddr_in6 never change on Linux.
                let raw = UnsafeRawBufferPointer(
                    start: address,
                    count: Int(entry.pointee.ai_addrlen)
                )
                switch entry.pointee.ai_family {
                case AF_INET: found.append(NetworkAddress(bytes: Array(raw[4..<8])))
                case AF_INET6: found.append(NetworkAddress(bytes: Array(raw[8..<24])))
                default: break  // SAFETY: other families are no Internet addresses.
                }
            }
            next = entry.pointee.ai_next
        }
        return found
    }
}
