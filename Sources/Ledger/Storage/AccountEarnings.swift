package import GotchuCore

/// The parts of an account's history whose earnings are asked for.
package struct EarningsRange: Equatable, Sendable {
    /// The length of a slice: no zone of our time is ahead of UTC by a part of it.
    package static let slice: Duration = .seconds(15 * 60)

    /// The moments until which earnings are summed up from the first entry on.
    package let marks: [Timestamp]
    /// The time whose entries are counted; `nil` for none. Its cost grows with the entries in it.
    package let counted: Range<Timestamp>?

    package init(marks: [Timestamp], counted: Range<Timestamp>?) {
        self.marks = marks
        self.counted = counted
    }
}

/// The earnings of an account: what it was paid less what it refunded.
package struct AccountEarnings: Equatable, Sendable {
    package let account: Account
    /// The earnings before each mark, in minor units.
    package let earned: [Int64]
    /// The numbers of the entries of the counted time; of all entries if none is counted.
    package let numbers: Range<Int64>
    /// The entries that were counted, in the order of time.
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

/// The entries of one kind and direction in a quarter of an hour, or some of them.
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
