internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// The parts of all earnings by where their money is. First in, first out: what is in the wallet
/// was earned last.
struct EarningsShares: Equatable, Sendable {
    /// Still in the wallet, in minor units.
    let pending: Int64
    /// On its way to a bank.
    let processing: Int64
    /// Paid to a bank, or spent.
    let paid: Int64

    /// - Parameters:
    ///   - earned: All earnings, in minor units.
    ///   - open: The sum of the withdrawals that are under way.
    init(earned: Int64, balance: Int64, open: Int64) {
        let earned = max(0, earned)
        pending = min(earned, max(0, balance))
        processing = min(earned - pending, open)
        paid = earned - pending - processing
    }

    /// Returns the place of the money that brought all earnings to a sum.
    func status(ofEarningsUpTo sum: Int64) -> EarningsEntry.PayoutStatus {
        if sum <= paid { return .paid }
        return sum <= paid + processing ? .processing : .pending
    }
}

extension FundingDesk {
    /// The withdrawals that are read for the sum of those under way.
    private static let withdrawalLimit = 1_000
    private static let pageLimit = 100

    /// Reads the parts of a user's earnings.
    func shares(of account: Account, user: UserID) async throws -> EarningsShares {
        var open: Int64 = 0
        var before: RecordID?
        for _ in 0..<Self.withdrawalLimit / Self.pageLimit {
            let next = FundingPage(before: before, limit: Self.pageLimit)
            let page: [Withdrawal] = try await newest(of: user, next)
            for withdrawal in page where withdrawal.state.isOpen {
                open += withdrawal.amount.minorUnits
            }
            before = page.last?.id
            if page.count < Self.pageLimit { break }
        }
        return EarningsShares(earned: account.earned, balance: account.balance, open: open)
    }
}
