internal import Crypto
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Maps an issuer's subjects to users of the ledger. A new subject gets a user with an empty
/// wallet.
final class UserDirectory: Sendable {
    /// The largest number of cached subjects; the cache is emptied when it is full.
    private static let limit = 20_000

    private let ledger: Ledger
    private let known = Mutex<[String: UserID]>([:])

    init(ledger: Ledger) {
        self.ledger = ledger
    }

    /// Returns the user of the claims. Inserts a new user into the ledger.
    func user(_ claims: TokenClaims) async throws(LedgerError) -> UserID {
        let login = Self.login(claims)
        if let user = known.withLock({ $0[login] }) { return user }
        let opened = try await ledger.submit(
            OpenAccount(
                login: login,
                displayName: claims.name ?? Self.name(for: login),
                opening: Money(minorUnits: 0)
            )
        )
        guard case .success(let user) = opened else { throw .corrupt("a user") }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll() }
            known[login] = user.id
        }
        return user.id
    }

    /// Removes the cached user of the claims. Used if the ledger does not have the user: after a
    /// failover a replica may lack new users.
    ///
    /// - Returns: True if the user was cached. The user's next call then inserts the user again.
    func forget(_ claims: TokenClaims) -> Bool {
        known.withLock { $0.removeValue(forKey: Self.login(claims)) } != nil
    }

    private static func login(_ claims: TokenClaims) -> String {
        "<\(claims.issuer)>\(claims.subject)"
    }

    /// Returns a display name for a user whose issuer sends none. It is derived from the login, so
    /// a user always has the same name.
    private static func name(for login: String) -> String {
        let digest = SHA256.hash(data: Array(login.utf8)).prefix(2)
        let number = digest.reduce(0) { $0 << 8 | Int($1) }
        return "Member \(number)"
    }
}
