/// An account of the house itself. It may be negative: it is where money enters the books from, so
/// that the sum over all accounts is always zero.
package enum SystemAccount: String, CaseIterable, Sendable {
    /// Where a development server's opening balances come from.
    case developmentMint = "DEV_MINT"
}
