package import GotchuCore

/// Money that moved: lines that sum to zero, written once and never changed.
package struct Transfer: Equatable, Sendable {
    package let id: TransferID
    package let kind: Kind
    /// What moved, in minor units; positive.
    package let amount: Money
    package let createdAt: Timestamp
    /// The order that it carries out, if it is a payment.
    package let order: Order?
    package let lines: [Line]

    package init(
        id: TransferID,
        kind: Kind,
        amount: Money,
        createdAt: Timestamp,
        order: Order?,
        lines: [Line]
    ) {
        self.id = id
        self.kind = kind
        self.amount = amount
        self.createdAt = createdAt
        self.order = order
        self.lines = lines
    }

    package enum Kind: String, CaseIterable, Sendable {
        /// A payer paid a payee's session.
        case payment = "PAYMENT"
        /// A payee gave back what he was paid, or some of it.
        case refund = "REFUND"
        /// A development server opened a wallet with money.
        case developmentOpening = "DEV_OPENING"
    }

    /// Who ordered a payment, under which key, for which session. All unique for ever.
    package struct Order: Equatable, Sendable {
        package let key: SendKey
        package let session: SessionID

        package init(key: SendKey, session: SessionID) {
            self.key = key
            self.session = session
        }
    }

    /// One ledger entry.
    package struct Line: Equatable, Sendable {
        package let wallet: WalletID
        /// The wallet's entries are numbered 1, 2, 3 … without a gap.
        package let number: Int64
        /// In minor units; negative for a debit.
        package let amount: Int64

        package init(wallet: WalletID, number: Int64, amount: Int64) {
            self.wallet = wallet
            self.number = number
            self.amount = amount
        }
    }
}
