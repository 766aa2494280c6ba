package import GotchuCore
package import Ledger

/// A call to the provider. All of it follows from a committed record, so that it is made again
/// with the same key and the same parameters whatever happens in between.
package enum Call: Equatable, Sendable {
    /// Makes a PaymentIntent or a Checkout session. Its reply also has the secret or the address,
    /// which is never stored.
    case openDeposit(DepositOrder)
    /// Reads it with its charge, refunds and disputes.
    case readDeposit(DepositReference)
    /// Looks through the listing for the object that names the record.
    case findDeposit(DepositOrder)
    /// Cancels a PaymentIntent or expires a Checkout session, then reads it.
    case endDeposit(DepositReference)

    case openAccount(PayeeOrder)
    case readAccount(String)
    case findAccount(PayeeOrder)

    case sendTransfer(TransferOrder)
    case readTransfer(String)
    case findTransfer(TransferOrder)
    /// Reverses all of a transfer, then reads it.
    case reverseTransfer(ReversalOrder)

    case sendPayout(PayoutOrder)
    case readPayout(PayoutReference)
    case findPayout(PayoutOrder)

    /// The provider's idempotency key of what is made or looked for; `nil` for a read.
    var key: String? {
        switch self {
        case .openDeposit(let order), .findDeposit(let order): order.key
        case .openAccount(let order), .findAccount(let order): order.key
        case .sendTransfer(let order), .findTransfer(let order): order.key
        case .reverseTransfer(let order): order.key
        case .sendPayout(let order), .findPayout(let order): order.key
        case .readDeposit, .endDeposit, .readAccount, .readTransfer, .readPayout: nil
        }
    }
}

/// The parameters of a deposit.
package struct DepositOrder: Equatable, Sendable {
    package let deposit: RecordID
    package let user: UserID
    package let amount: Money
    package let reference: String?
    package let presentation: Presentation
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// The provider's idempotency key.
    package let key: String
}

/// The way in which a payer enters the card.
package enum Presentation: String, Codable, CaseIterable, Sendable {
    /// An app that has the provider's own form.
    case clientSecret = "client_secret"
    /// A page of the provider's.
    case hosted
}

/// The ids under which the provider knows a deposit; at least one.
package struct DepositReference: Equatable, Sendable {
    package let deposit: RecordID
    package let intent: String?
    package let checkout: String?

    package init(deposit: RecordID, intent: String?, checkout: String?) {
        self.deposit = deposit
        self.intent = intent
        self.checkout = checkout
    }
}

/// The parameters of a connected account.
package struct PayeeOrder: Equatable, Sendable {
    package let user: UserID
    package let createdAt: Timestamp
    /// Accounts of the user's that are closed.
    package let pastAccounts: [String]
    package let key: String
}

/// The parameters of a transfer to a connected account. `transfer_group` is the withdrawal.
package struct TransferOrder: Equatable, Sendable {
    package let withdrawal: RecordID
    package let user: UserID
    package let amount: Money
    package let destination: String
    package let key: String
}

/// The parameters of a reversal of a whole transfer.
package struct ReversalOrder: Equatable, Sendable {
    package let withdrawal: RecordID
    package let transfer: String
    package let amount: Money
    package let key: String
}

/// The parameters of a payout from a connected account.
package struct PayoutOrder: Equatable, Sendable {
    package let withdrawal: RecordID
    package let amount: Money
    /// `acct_…`, from which it is paid.
    package let account: String
    /// `ba_…`; `nil` for the account's default one.
    package let bankAccount: String?
    /// The time from which on a listing must be looked through.
    package let createdAt: Timestamp
    package let key: String
}

package struct PayoutReference: Equatable, Sendable {
    package let payout: String
    package let account: String
}
