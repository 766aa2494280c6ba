package import GotchuCore

/// The parts of an account's history whose earnings are requested.
package struct EarningsRange: Equatable, Sendable {
    /// The length of a slice. All current UTC offsets are multiples of it.
    package static let slice: Duration = .seconds(15 * 60)

    /// The times up to which earnings are summed, each from the first entry on.
    package let marks: [Timestamp]
    /// The period whose entries are counted; `nil` for none. The cost grows with its entries.
    package let counted: Range<Timestamp>?

    package init(marks: [Timestamp], counted: Range<Timestamp>?) {
        self.marks = marks
        self.counted = counted
    }
}

/// The earnings of an account: payments received minus refunds.
package struct AccountEarnings: Equatable, Sendable {
    package let account: Account
    /// The earnings before each mark, in minor units.
    package let earned: [Int64]
    /// The numbers of the entries in the counted period; of all entries if none is counted.
    package let numbers: Range<Int64>
    /// The counted entries in slices, oldest first.
    package let slices: [EarningsSlice]

    package init(
        account: Account,
        earned: [Int64],
        numbers: Range<Int64>,
        slices: [EarningsSlice]
    ) {
        self.account = account
        self.earned = earned
        self.numbers = numbers
        self.slices = slices
    }
}

/// The entries of one kind and direction within a quarter of an hour, or those of them that are in
/// the counted period.
package struct EarningsSlice: Equatable, Sendable {
    package let start: Timestamp
    /// The name of a kind of transfer.
    package let kind: String
    package let isDebit: Bool
    package let count: Int64
    /// Their sum in minor units; negative for debits.
    package let amount: Int64

    package init(start: Timestamp, kind: String, isDebit: Bool, count: Int64, amount: Int64) {
        self.start = start
        self.kind = kind
        self.isDebit = isDebit
        self.count = count
        self.amount = amount
    }
}
