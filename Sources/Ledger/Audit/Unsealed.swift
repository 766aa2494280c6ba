/// What a look for transfers without a seal has found.
package struct Unsealed: Equatable, Sendable {
    /// In the order of their names.
    package let transfers: [SealedTransfer]
    /// The last transfer that was looked at; `nil` if there was none.
    package let lookedUpTo: TransferID?
    /// The chain's end at that moment.
    package let head: Seal
}
