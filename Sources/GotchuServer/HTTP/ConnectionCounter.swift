internal import Synchronization

/// Counts connections by address, so that one address cannot use all of them.
final class ConnectionCounter: Sendable {
    private let limit: Int
    /// Trusted proxies, which connect for many clients.
    private let exempt: Set<ClientAddress>
    private let counts = Mutex<[ClientAddress: Int]>([:])

    /// - Parameter limit: The most connections of one address.
    init(limit: Int, exempt: Set<ClientAddress>) {
        self.limit = limit
        self.exempt = exempt
    }

    /// - Returns: `false` if the address is at its limit; the connection is then not counted.
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
