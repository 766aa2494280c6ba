internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging

extension LedgerStorage {
    /// Logs a warning if the ledger belongs to an account of the provider. For a server without the
    /// provider's key: it leaves that account's deposits and withdrawals as they are.
    func warnOfUnservedFunding(_ logger: Logger) async throws {
        guard let record = try await self.record(Provider.id) else { return }
        let account = try Provider(record).body.account
        let waiting = try await due(
            at: Timestamp(milliseconds: .max),
            excluding: RecordKind.othersThanFunding,
            skipping: 0,
            limit: RecordRefresher.readLimit
        )
        logger.warning(
            """
            These books belong to an account at Stripe, and there is no key: nobody can deposit or \
            withdraw, and what is open there waits. Name the key's file with --stripe-key-file.
            """,
            metadata: [
                "account": "\(account)",
                "deposits": "\(waiting.count { $0.kind == DepositBody.kind })",
                "withdrawals": "\(waiting.count { $0.kind == WithdrawalBody.kind })",
            ]
        )
    }
}
