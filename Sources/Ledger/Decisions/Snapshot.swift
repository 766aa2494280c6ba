package import GotchuCore

/// The rows of a footprint as they are before a batch, or within one, as its commands have left
/// them.
package struct Snapshot: Equatable, Sendable {
    package var users: [UserID: User] = [:]
    package var usersByEmail: [String: UserID] = [:]
    package var wallets: [Wallet.Place: Wallet] = [:]
    package var sessions: [SessionID: Session] = [:]
    package var takenEIDs: Set<EID> = []
    package var retiredEIDs: [EID: RetiredEID] = [:]
    /// How many sessions of a payee are stored as not final.
    package var liveSessions: [UserID: Int] = [:]
    package var sends: [SendKey: RememberedSend] = [:]
    package var refunds: [SendKey: RememberedRefund] = [:]

    package init() {}

    /// Whether there is such a user, as far as his own row was loaded or his wallets. Nobody is
    /// taken in without a wallet, so that where those are loaded the row need not be.
    package func knows(_ user: UserID) -> Bool {
        users[user] != nil
            || Currency.allCases.contains { currency in
                wallets[Wallet.Place(owner: .user(user), currency: currency)] != nil
            }
    }

    /// Takes a user into the snapshot, under both of his names.
    package mutating func insert(_ user: User) {
        users[user.id] = user
        usersByEmail[user.email] = user.id
    }
}
