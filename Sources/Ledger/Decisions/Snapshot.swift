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
    /// Sessions and owners of wallets whose rows were not loaded, because another transaction holds
    /// them.
    package var held = Footprint()

    package init() {}

    /// Whether there is such a user, as far as his own row was loaded or his wallets. Nobody is
    /// taken in without a wallet, so that where those are loaded the row need not be.
    package func knows(_ user: UserID) -> Bool {
        users[user] != nil
            || Currency.allCases.contains { currency in
                wallets[Wallet.Place(owner: .user(user), currency: currency)] != nil
            }
    }

    /// True if another transaction holds a row that a command needs.
    func isHeld(for command: Command) -> Bool {
        guard !held.sessions.isEmpty || !held.walletOwners.isEmpty else { return false }
        let needed = Footprint(CollectionOfOne(command))
        let parties = needed.paidSessions.compactMap { sessions[$0] }.flatMap { session in
            [session.payee, session.payer].compactMap { $0.map(Wallet.Owner.user) }
        }
        return !held.sessions.isDisjoint(with: needed.sessions)
            || !held.walletOwners.isDisjoint(with: needed.walletOwners.union(parties))
    }

    /// Takes a user into the snapshot, under both of his names.
    package mutating func insert(_ user: User) {
        users[user.id] = user
        usersByEmail[user.email] = user.id
    }
}
