internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Payments

extension LedgerReads {
    /// Returns what a user owes, in minor units.
    func debt(of user: UserID) async throws -> Int64 {
        let key = Account.Key(.houseOf(.owed, user), FundingOperations.currency)
        return -(try await history(of: key, .newest)?.account.balance ?? 0)
    }
}

/// Computes the part of a wallet that may be withdrawn, and if a withdrawal needs the operator's
/// release.
struct WithdrawalTerms: Sendable {
    /// The maximum number of a payee's oldest entries that are searched for their first sales.
    private static let entryLimit = 1_000

    let reads: any LedgerReads
    let payouts: PayoutTerms

    private func account(of user: UserID) -> Account.Key {
        Account.Key(.user(user), FundingOperations.currency)
    }

    /// Returns a user's account, and the sum of its credits that are too recent to be withdrawn.
    /// Money that a bank returned does not count as recent: its hold was over before the
    /// withdrawal.
    ///
    /// - Throws: `unknownUser` if there is no such account.
    func hold(
        of user: UserID,
        _ source: FundingSource
    ) async throws -> (account: Account, hold: WithdrawalHold) {
        let hours = source == .mint ? 0 : payouts.holdHours
        let range = EarningsRange(
            marks: [],
            counted: hours == 0 ? nil : holdStart(hours)..<Timestamp(milliseconds: .max)
        )
        guard let found = try await reads.earnings(of: account(of: user), range) else {
            throw Refusal(.unknownUser).thrown
        }
        let held = found.slices.filter {
            !$0.isDebit && $0.kind != TransferKind.withdrawalReturned.name
        }
        let hold = WithdrawalHold(
            entryCount: found.account.entryCount,
            heldAmount: held.reduce(0) { $0 + $1.amount }
        )
        return (found.account, hold)
    }

    /// Returns the available, held and owed parts of a user's wallet.
    ///
    /// - Throws: `unknownUser` if there is no such account.
    func withdrawable(
        of user: UserID,
        _ source: FundingSource
    ) async throws -> Withdrawable {
        let debt = try await reads.debt(of: user)
        let (account, hold) = try await hold(of: user, source)
        let available = max(0, account.balance - hold.heldAmount - debt)
        return Withdrawable(
            availableCents: WireInteger(available),
            heldCents: WireInteger(min(max(0, account.balance), hold.heldAmount)),
            owedCents: WireInteger(debt)
        )
    }

    /// Settles a user's debt from the wallet before a withdrawal.
    ///
    /// - Parameter submit: Submits the command.
    func settle(
        _ user: UserID,
        _ submit: (SettleDebt) async throws -> Int64
    ) async throws {
        guard try await reads.debt(of: user) > 0 else { return }
        _ = try await submit(SettleDebt(user, in: FundingOperations.currency))
    }

    /// Returns true if a payee is not released and has too few sales that are older than the hold.
    func needsRelease(_ user: UserID, _ source: FundingSource) async throws -> Bool {
        guard source != .mint, payouts.firstSales > 0 else { return false }
        if let payee = try await payee(of: user), payee.body.isReleased { return false }
        let key = account(of: user)
        let newest = try await reads.history(of: key, .newest)?.account.entryCount ?? 0
        let range = HistoryRange(
            .before(min(newest, Int64(Self.entryLimit)) + 1),
            limit: Self.entryLimit
        )
        let entries = try await reads.history(of: key, range)?.entries ?? []
        let holdStart = holdStart(payouts.holdHours)
        let sales = entries.count {
            $0.entry.kind == TransferKind.payment.name && $0.entry.amount > 0
                && $0.entry.at < holdStart
        }
        return sales < payouts.firstSales
    }

    /// Returns a user's payee; `nil` without one.
    func payee(of user: UserID) async throws -> Payee? {
        try await reads.record(Payee.id(of: user)).map { try Payee($0) }
    }

    /// Returns the payee to whose account a user's withdrawals are paid; `nil` without one.
    func paidPayee(of user: UserID) async throws -> Payee? {
        guard let payee = try await payee(of: user) else { return nil }
        guard let other = payee.body.payeeOf else { return payee }
        return try await self.payee(of: other)
    }

    private func holdStart(_ hours: Int) -> Timestamp {
        reads.now.advanced(by: .seconds(-3_600 * Int64(hours)))
    }
}
