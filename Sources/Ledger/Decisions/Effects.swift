package import GotchuCore

/// The rows that a batch writes, each in its last state; nothing else may be written.
package struct Effects: Equatable, Sendable {
    package var newUsers: [User] = []
    /// New ones and changed ones.
    package var wallets: [Wallet] = []
    /// New ones and changed ones.
    package var sessions: [Session] = []
    package var newRetiredEIDs: [RetiredEID] = []
    package var newTransfers: [Transfer] = []
    package var newSends: [RememberedSend] = []
    package var newRefunds: [RememberedRefund] = []
    package var newEvents: [SessionEvent] = []
    package var probedAt: Timestamp?

    package init() {}

    package var isEmpty: Bool { self == Effects() }
}
