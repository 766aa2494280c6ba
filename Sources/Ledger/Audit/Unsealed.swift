/// What a look for transfers without a seal has found.
package struct Unsealed: Equatable, Sendable {
    /// Those without one, in the order of their names; no more than one bite.
    package let transfers: [SealedTransfer]
    /// The last transfer that was looked at; `nil` if there was none.
    package let lookedUpTo: TransferID?
    /// How many transfers the stretch has that was asked for.
    package let count: Int64
    /// The chain's end at that moment.
    package let head: Seal

    /// - Parameter end: The last transfer of the stretch that was asked for.
    init(
        _ transfers: [SealedTransfer],
        upTo end: TransferID?,
        count: Int64,
        of size: Bite,
        head: Seal
    ) {
        self.transfers = transfers
        self.count = count
        self.head = head
        // A full bite may have left others of the stretch behind.
        lookedUpTo = transfers.count < size.seals ? end : transfers.last?.id
    }
}
