internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import ServiceProcess
internal import Stripe

/// Looks at a record's objects at the provider: asks the ledger which call is needed, makes it, and
/// feeds what it showed back, until none is needed now.
struct FundingLooks: Sendable {
    /// The largest number of calls of one look: a withdrawal's way is transfer, payout, reversal.
    private static let callLimit = 4

    let ledger: Ledger
    let provider: StripeProvider
    let gate: ProviderGate
    let metrics: FundingMetrics

    /// - Returns: The result of the last call; `nil` if none was needed.
    func look(at record: RecordID) async throws -> StripeProvider.Shown? {
        guard gate.isOpen else { return StripeProvider.Shown(.unknown(after: nil)) }
        let before = try await ledger.record(record)
        var call = try await ledger.submit(Wake(record)).accepted()
        var last: StripeProvider.Shown?
        for _ in 0..<Self.callLimit {
            guard let next = call else { break }
            let shown = await provider.perform(next)
            last = shown
            let observe = Observe(record, shown.observation, of: next)
            call = try await ledger.submit(observe).accepted()
        }
        if last != nil, let after = try await ledger.record(record) {
            metrics.looked(at: after, before: before?.state)
            if after.state != before?.state { try await lookAtPayee(of: after) }
        }
        return last
    }

    /// Looks at the account to which a withdrawal has just failed: it may be closed.
    private func lookAtPayee(of record: Record) async throws {
        guard record.kind == WithdrawalBody.kind,
            record.state == WithdrawalBody.State.failed.rawValue,
            let account = try Withdrawal(record).body.account,
            let payee = try await ledger.record(named: Posting.name(ofObject: account))
        else { return }
        _ = try await look(at: payee.record.id)
    }

    /// Counts the records that wait for the operator anew: another server may have seen their end.
    func countWaiting() async throws {
        for id in metrics.waiting {
            guard let record = try await ledger.record(id) else { continue }
            metrics.looked(at: record, before: record.state)
        }
    }

    /// Makes a fresh link to the pages on which a payee says who they are.
    ///
    /// - Parameter back: The path to which they lead once the link was used, or is too old.
    func link(to account: String, back: String) async -> StripeOutcome<AccountLink> {
        guard gate.isOpen else { return .throttled(retryAfter: nil) }
        return await provider.link(to: account, back: back, key: Self.linkKey)
    }

    /// Makes a fresh link to the pages on which a payee who is set up changes the bank account.
    func dashboardLink(of account: String) async -> StripeOutcome<AccountLink> {
        guard gate.isOpen else { return .throttled(retryAfter: nil) }
        return await provider.dashboardLink(of: account, key: Self.linkKey)
    }

    /// A key of one call alone: a link works once, so that none is made twice.
    private static var linkKey: String { "gotchu-link-\(RecordID.make())" }
}
