internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// All earnings, divided by where the money is now. Money earned first is paid out first. The
/// wallet's balance is thus the money that was earned last.
struct EarningsBreakdown: Equatable, Sendable {
    /// The amount still in the wallet, in minor units.
    let pending: Int64
    /// The amount on its way to a bank.
    let processing: Int64
    /// The amount paid to a bank, or spent.
    let paid: Int64

    /// - Parameters:
    ///   - earned: All earnings, in minor units.
    ///   - open: The sum of the open withdrawals.
    init(earned: Int64, balance: Int64, open: Int64) {
        let earned = max(0, earned)
        pending = min(earned, max(0, balance))
        processing = min(earned - pending, open)
        paid = earned - pending - processing
    }

    /// Returns the status of an earning, given the sum of all earnings up to and including it.
    func status(ofEarningsUpTo sum: Int64) -> EarningsEntry.PayoutStatus {
        if sum <= paid { return .paid }
        return sum <= paid + processing ? .processing : .pending
    }
}

extension FundingOperations {
    /// The maximum number of withdrawals that are read for the sum of the open ones.
    private static let withdrawalLimit = 1_000
    private static let pageLimit = 100

    /// Reads where a user's earnings are now.
    func earningsBreakdown(of account: Account, user: UserID) async throws -> EarningsBreakdown {
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
        return EarningsBreakdown(earned: account.earned, balance: account.balance, open: open)
    }
}
