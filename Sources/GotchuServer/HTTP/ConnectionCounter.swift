internal import Synchronization

/// Counts connections by address. The limit keeps one address from using all connections.
final class ConnectionCounter: Sendable {
    private let limit: Int
    /// The trusted proxies. They connect for many clients and have no limit.
    private let exempt: TrustedProxies
    private let counts = Mutex<[ClientAddress: Int]>([:])

    /// - Parameter limit: The most connections of one address.
    init(limit: Int, exempt: TrustedProxies) {
        self.limit = limit
        self.exempt = exempt
    }

    /// Returns true for a trusted proxy.
    func isProxy(_ address: ClientAddress) -> Bool { exempt.contains(address) }

    /// Counts a new connection. Loopback and exempt addresses are neither counted nor limited.
    ///
    /// - Returns: False if the address is at its limit. The connection is then not counted.
    func opened(_ address: ClientAddress) -> Bool {
        if address.isLoopback || exempt.contains(address) { return true }
        return counts.withLock { counts in
            guard counts[address, default: 0] < limit else { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    func closed(_ address: ClientAddress) {
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count == 1 ? nil : count - 1
        }
    }
}
