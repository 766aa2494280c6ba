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
        }
        return last
    }

    /// Counts the records that wait for the operator anew: another server may have seen their end.
    func countHeld() async throws {
        for id in metrics.held {
            guard let record = try await ledger.record(id) else { continue }
            metrics.looked(at: record, before: record.state)
        }
    }

    /// Makes a fresh link to the pages on which a payee says who they are.
    ///
    /// - Parameter back: The path to which they lead once the link was used, or is too old.
    func link(to account: String, back: String) async -> StripeOutcome<AccountLink> {
        guard gate.isOpen else { return .throttled(retryAfter: nil) }
        // Of this call alone: a link works once, so that none is made twice.
        let key = "gotchu-link-\(RecordID.make())"
        return await provider.link(to: account, back: back, key: key)
    }
}
