/// The uses that books have had.
package enum BooksUse: String, Sendable {
    /// Wallets were opened with money that nobody has paid in.
    case development
    /// There are users of an OpenID issuer, or devices, and no such money.
    case production
    case neither

    /// Its column, in SQL that both stores understand alike. Those who did not log in to a
    /// development server have a name of their own kind: `<issuer>subject`.
    static let query = """
        SELECT CASE
            WHEN EXISTS (
                SELECT 1 FROM wallets
                WHERE system_account = '\(SystemAccount.developmentMint.rawValue)'
            ) THEN '\(development.rawValue)'
            WHEN EXISTS (
                SELECT 1 FROM users WHERE email >= '<' AND email < '='
            ) THEN '\(production.rawValue)'
            ELSE '\(neither.rawValue)'
        END
        """
}

extension LedgerRow where Self: ~Copyable {
    /// Of `BooksUse.query`.
    borrowing func booksUse() throws -> BooksUse {
        guard let use = BooksUse(rawValue: try text(0)) else { throw corrupt("the books' use") }
        return use
    }
}
