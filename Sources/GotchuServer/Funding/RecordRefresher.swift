internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import ServiceProcess

/// Refreshes a record from the provider. Asks the ledger for the next call, makes it, and submits
/// the observation. Repeats this until no call is needed now, at most four times.
struct RecordRefresher: Sendable {
    /// The maximum number of calls in one refresh. A withdrawal may need transfer, payout and
    /// reversal.
    private static let callLimit = 4

    let ledger: Ledger
    let provider: StripeProvider
    let gate: ProviderGate
    let metrics: FundingMetrics

    /// - Returns: The result of the last call; `nil` if no call was needed. If the gate is closed,
    ///   an unknown observation.
    func refresh(_ record: RecordID) async throws -> StripeProvider.CallResult? {
        guard gate.isOpen else { return StripeProvider.CallResult(.unknown(after: nil)) }
        let before = try await ledger.record(record)
        var call = try await ledger.submit(Wake(record)).accepted()
        var last: StripeProvider.CallResult?
        for _ in 0..<Self.callLimit {
            guard let next = call else { break }
            let shown = await provider.perform(next)
            last = shown
            let observe = Observe(record, shown.observation, of: next)
            call = try await ledger.submit(observe).accepted()
        }
        if last != nil, let after = try await ledger.record(record) {
            metrics.countState(of: after, previous: before?.state)
            if after.state != before?.state { try await refreshPayee(of: after) }
        }
        return last
    }

    /// Refreshes the payee of a withdrawal that has just failed: the payee's account may be closed.
    private func refreshPayee(of record: Record) async throws {
        guard record.kind == WithdrawalBody.kind,
            record.state == WithdrawalBody.State.failed.rawValue,
            let account = try Withdrawal(record).body.account,
            let payee = try await ledger.record(named: Posting.name(ofObject: account))
        else { return }
        _ = try await refresh(payee.record.id)
    }

    /// Updates the set of records that wait for the operator. Another server may have settled some.
    func countWaiting() async throws {
        for id in metrics.waiting {
            guard let record = try await ledger.record(id) else { continue }
            metrics.countState(of: record, previous: record.state)
        }
    }
}
