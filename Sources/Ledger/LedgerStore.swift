package import GotchuCore

/// Where the books are kept. A store knows how to load and to write rows, and decides nothing.
package protocol LedgerStore: Sendable {
    /// In one transaction: loads the rows of `footprint`, has `decide` decide on them, writes its
    /// effects and commits durably.
    ///
    /// The caller's cancellation does not stop it: the transaction may hold other people's
    /// payments.
    ///
    /// - Parameter decide: May be called again with fresh rows if the transaction is repeated.
    /// - Throws: `unknownOutcome` if it may have been committed; anything else if nothing was.
    func commit(
        touching footprint: Footprint,
        decide: @Sendable (Snapshot) -> Decision
    ) async throws(LedgerError) -> Decision

    /// A session by its name.
    func session(_ id: SessionID) async throws(LedgerError) -> Session?

    /// What an EID stands for.
    func published(_ eid: EID) async throws(LedgerError) -> PublishedSession?

    /// A user's wallet and its newest entries, newest first.
    func statement(of user: UserID, entries: Int) async throws(LedgerError) -> WalletStatement?

    /// A stretch of the history of a user's wallet in one currency; `nil` if he has no such wallet.
    func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) async throws(LedgerError) -> WalletHistory?

    /// What was answered to a payment's key.
    func send(_ key: SendKey) async throws(LedgerError) -> RememberedSend?

    /// The newest seal; `Seal.origin` if there is none.
    func sealHead() async throws(LedgerError) -> Seal

    /// Looks at a stretch of transfers behind one, in the order of their names, for those without a
    /// seal.
    ///
    /// - Parameter end: The last name that it may have; `nil` for any.
    func unsealed(
        after start: TransferID?,
        upTo end: TransferID?,
        _ size: Bite
    ) async throws(LedgerError) -> Unsealed

    /// How many transfers a stretch has now.
    func transferCount(in stretch: Stretch) async throws(LedgerError) -> Int64

    /// Writes seals that continue the chain.
    ///
    /// - Throws: `rejected` if the chain does not end any more where they begin.
    func append(_ seals: [Seal]) async throws(LedgerError)

    /// Sessions that time has changed and nobody has written down yet, the longest due first.
    func due(at time: Timestamp, limit: Int) async throws(LedgerError) -> [SessionID]

    /// How long after its time nobody writes down that a session is over, because another server of
    /// the same books may have accepted a payment for it in time.
    var expiryMargin: Duration { get }

    /// The time by which sessions run out: one and the same for all servers of these books.
    var now: Timestamp { get }

    /// Whether something that can be read may still be lost, because a replica that would take over
    /// does not have it yet.
    var readsAhead: Bool { get }

    /// Sessions that others than this server's writer may have changed; `nil` if there are none.
    var changes: ChangeMailbox? { get }
}

extension LedgerStore {
    /// Books of one machine go by its clock.
    package var now: Timestamp { .now }
    package var readsAhead: Bool { false }
}
