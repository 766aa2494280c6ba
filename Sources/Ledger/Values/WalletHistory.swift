package import GotchuCore

/// A stretch of a wallet's history, of one moment.
package struct WalletHistory: Equatable, Sendable {
    package let wallet: Wallet
    /// When its owner was taken in.
    package let openedAt: Timestamp
    /// Newest first, without a gap.
    package let entries: [Entry]

    package init(wallet: Wallet, openedAt: Timestamp, entries: [Entry]) {
        self.wallet = wallet
        self.openedAt = openedAt
        self.entries = entries
    }

    /// One line of it.
    package struct Entry: Equatable, Sendable {
        /// Its place in the wallet: 1 for the first, without a gap.
        package let number: Int64
        package let transfer: TransferID
        package let kind: Transfer.Kind
        /// Negative for a debit.
        package let amount: Money
        package let memo: String?
        /// What was paid or refunded, if it was that.
        package let session: SessionID?
        package let createdAt: Timestamp

        package init(
            number: Int64,
            transfer: TransferID,
            kind: Transfer.Kind,
            amount: Money,
            memo: String?,
            session: SessionID?,
            createdAt: Timestamp
        ) {
            self.number = number
            self.transfer = transfer
            self.kind = kind
            self.amount = amount
            self.memo = memo
            self.session = session
            self.createdAt = createdAt
        }
    }

    /// Which stretch: entries are numbered without a gap, so that any page is found at once.
    package struct Range: Equatable, Sendable {
        package let start: Start
        package let limit: Int

        package init(_ start: Start, limit: Int) {
            self.start = start
            self.limit = limit
        }

        package enum Start: Equatable, Sendable {
            /// So many entries behind the newest.
            case newest(skipping: Int64)
            /// Right behind the entry of this number, whatever has come since.
            case after(Int64)
        }

        /// The highest number in it.
        func first(of wallet: Wallet) -> Int64 {
            switch start {
            case .newest(let skipped): wallet.entryCount - skipped
            case .after(let number): number - 1
            }
        }
    }
}
