package import GotchuCore

/// A payee asks for money. The session is published at once: it starts as ADVERTISING.
package struct CreateSession: Equatable, Sendable {
    /// How many sessions a payee may have that are not over, unless said.
    package static let usualLiveLimit = 1_000
    /// How many EIDs a caller proposes, so that a collision costs no second round.
    package static let eidProposals = 3

    package let id: SessionID
    package let payee: UserID
    package let amount: Money
    package let memo: String?
    package let reference: String?
    package let lifetime: Duration
    /// The first that nobody has is taken.
    package let eids: [EID]
    /// How many sessions the payee may have that are not over, this one included.
    package let liveLimit: Int

    package init(
        id: SessionID = .make(),
        payee: UserID,
        amount: Money,
        memo: String?,
        reference: String?,
        lifetime: Duration,
        eids: [EID] = (0..<Self.eidProposals).map { _ in .random() },
        liveLimit: Int = Self.usualLiveLimit
    ) {
        self.id = id
        self.payee = payee
        self.amount = amount
        self.memo = memo
        self.reference = reference
        self.lifetime = lifetime
        self.eids = eids
        self.liveLimit = liveLimit
    }

    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        guard books.rows.knows(payee) else { return .refused(Refusal(.unknownUser)) }
        let place = Wallet.Place(owner: .user(payee), currency: amount.currency)
        guard books.rows.wallets[place] != nil else {
            return .refused(Refusal(.noWalletInCurrency))
        }
        guard books.rows.liveSessions[payee, default: 0] < liveLimit else {
            return .refused(Refusal(.tooManyLiveSessions))
        }
        guard let eid = eids.first(where: { !books.rows.takenEIDs.contains($0) }) else {
            return .refused(Refusal(.noFreeEID))
        }
        let session = Session(
            id: id,
            eid: eid,
            payee: payee,
            amount: amount,
            memo: memo,
            reference: reference,
            createdAt: time,
            expiresAt: time.advanced(by: lifetime),
            state: .advertising,
            version: 1
        )
        books.put(session, at: time)
        return .session(session)
    }
}
