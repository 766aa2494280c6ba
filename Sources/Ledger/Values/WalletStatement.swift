package import GotchuCore

/// A wallet and its newest entries, of one moment.
package struct WalletStatement: Equatable, Sendable {
    package let wallet: Wallet
    /// Newest first.
    package let entries: [Entry]

    package init(wallet: Wallet, entries: [Entry]) {
        self.wallet = wallet
        self.entries = entries
    }

    /// One line of a wallet's history.
    package struct Entry: Equatable, Sendable {
        package let transfer: TransferID
        package let kind: Transfer.Kind
        /// Negative for a debit.
        package let amount: Money
        package let memo: String?
        package let createdAt: Timestamp

        package init(
            transfer: TransferID,
            kind: Transfer.Kind,
            amount: Money,
            memo: String?,
            createdAt: Timestamp
        ) {
            self.transfer = transfer
            self.kind = kind
            self.amount = amount
            self.memo = memo
            self.createdAt = createdAt
        }
    }
}
