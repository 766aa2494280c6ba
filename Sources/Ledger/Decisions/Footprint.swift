package import GotchuCore

/// The rows that a batch of commands may touch; a store loads these and no others.
package struct Footprint: Equatable, Sendable {
    package var users: Set<UserID> = []
    package var emails: Set<String> = []
    /// Whose wallets; in every currency.
    package var walletOwners: Set<Wallet.Owner> = []
    package var sessions: Set<SessionID> = []
    /// Sessions whose payee's and payer's wallets are needed too.
    package var paidSessions: Set<SessionID> = []
    /// EIDs of which it must be known whether they are taken.
    package var eids: Set<EID> = []
    /// EIDs of which it must be known which session gave them up.
    package var retiredEIDs: Set<EID> = []
    /// Payees whose live sessions must be counted.
    package var livePayees: Set<UserID> = []
    package var sendKeys: Set<SendKey> = []
    package var refundKeys: Set<SendKey> = []

    package init() {}

    /// What `commands` may touch.
    package init(_ commands: some Sequence<Command>) {
        for command in commands { add(command.action) }
    }

    private mutating func add(_ action: Command.Action) {
        switch action {
        case .openWallet(let open):
            emails.insert(open.email)
            walletOwners.insert(.system(.developmentMint))
        case .createSession(let create):
            walletOwners.insert(.user(create.payee))
            eids.formUnion(create.eids)
            livePayees.insert(create.payee)
        case .lock(let lock):
            users.insert(lock.payer)
            sessions.insert(lock.session)
        case .unlock(let unlock):
            sessions.insert(unlock.session)
        case .cancel(let cancel):
            sessions.insert(cancel.session)
        case .rotate(let rotate):
            sessions.insert(rotate.session)
            eids.formUnion(rotate.eids)
            if let replaced = rotate.replaced { retiredEIDs.insert(replaced) }
        case .send(let send):
            walletOwners.insert(.user(send.key.user))
            sessions.insert(send.session)
            paidSessions.insert(send.session)
            sendKeys.insert(send.key)
        case .refund(let refund):
            walletOwners.insert(.user(refund.key.user))
            sessions.insert(refund.session)
            paidSessions.insert(refund.session)
            refundKeys.insert(refund.key)
        case .expire(let session):
            sessions.insert(session)
        case .probe:
            break
        }
    }
}
