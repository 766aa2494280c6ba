package import GotchuCore

/// A movement of money: entries whose sum is zero per currency, inserted once and never changed.
package struct Transfer: Equatable, Sendable {
    /// The record it belongs to, and the step of that record. The primary key: the same step cannot
    /// be posted twice.
    package struct Key: Hashable, Sendable, Codable {
        package let record: RecordID
        package let step: String

        package init(_ record: RecordID, _ step: String) {
            self.record = record
            self.step = step
        }

        /// The transfer's id in the API (`transfer_id`, `transaction_id`).
        package var id: String { computedID("transfer", record.rawValue, step) }
    }

    package let key: Key
    /// The name of its kind.
    package let kind: String
    package let at: Timestamp
    /// At most one for each account.
    package let entries: [Entry]
    /// The SHA-256 of all the fields above, covered by its seal; 32 bytes.
    package let hash: [UInt8]

    package init(key: Key, kind: String, at: Timestamp, entries: [Entry]) {
        self.key = key
        self.kind = kind
        self.at = at
        self.entries = entries
        hash = Self.hash(key, kind, at, entries)
    }
}

/// One line of an account's history, with the resulting balance.
package struct Entry: Equatable, Sendable {
    package let account: Account.Key
    /// An account's entries are numbered 1, 2, 3 … without a gap.
    package let number: Int64
    package let transfer: Transfer.Key
    package let kind: String
    /// Never earlier than the account's previous entry, even if a server's clock was set back.
    package let at: Timestamp
    /// In minor units; negative for a debit, never 0.
    package let amount: Int64
    /// The account's balance right after it.
    package let balance: Int64
    /// The account's earnings right after it.
    package let earned: Int64

    package init(
        account: Account.Key,
        number: Int64,
        transfer: Transfer.Key,
        kind: String,
        at: Timestamp,
        amount: Int64,
        balance: Int64,
        earned: Int64
    ) {
        self.account = account
        self.number = number
        self.transfer = transfer
        self.kind = kind
        self.at = at
        self.amount = amount
        self.balance = balance
        self.earned = earned
    }
}
