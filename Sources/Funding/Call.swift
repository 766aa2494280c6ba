package import GotchuCore
package import Ledger

/// A call to the provider. It depends only on a committed record. It can therefore always be
/// repeated with the same key and parameters.
package enum Call: Equatable, Sendable {
    /// Creates a PaymentIntent or a Checkout session. The reply also contains its secret or URL,
    /// which is never stored.
    case openDeposit(DepositOrder)
    /// Reads a deposit with its charge, refunds and disputes.
    case readDeposit(DepositReference)
    /// Searches the provider's list for the object whose metadata contains the record's id.
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

    /// The idempotency key under which the call creates its object, or under which the object of a
    /// search was created. `nil` for the other calls.
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
    /// The idempotency key for the provider.
    package let key: String
}

/// The way in which a payer enters the card details.
package enum Presentation: String, Codable, CaseIterable, Sendable {
    /// In an app that contains the provider's form.
    case clientSecret = "client_secret"
    /// On a page of the provider.
    case hosted
}

/// The provider's ids of a deposit; at least one is set.
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
    /// The user's closed accounts.
    package let pastAccounts: [String]
    package let key: String
}

/// The parameters of a transfer to a connected account. Its `transfer_group` is the withdrawal's
/// id.
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
    /// The account that pays it out: `acct_…`.
    package let account: String
    /// The bank account, `ba_…`; `nil` for the account's default.
    package let bankAccount: String?
    /// The time from which a list must be searched.
    package let createdAt: Timestamp
    package let key: String
}

package struct PayoutReference: Equatable, Sendable {
    package let payout: String
    package let account: String
}
