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
    /// The maximum number of records that are read at the start. Records beyond it are counted when
    /// they are next refreshed.
    static let readLimit = 10_000

    let ledger: Ledger
    let provider: StripeProvider
    let gate: ProviderGate
    let metrics: FundingMetrics
    let logger: Logger
    private let throttle = LogThrottle()

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
            try logChange(from: before, to: after)
            if after.state != before?.state { try await refreshPayee(of: after) }
        }
        return last
    }

    /// Logs the failure of a refresh. Rate-limited, because every refresh fails while the database
    /// is unavailable.
    func log(_ error: any Error, of record: RecordID) {
        logger.log(
            level: throttle.level(.warning),
            "The refresh of a deposit, a withdrawal or a payee failed.",
            metadata: ["record": "\(record)", "error": "\(error)"]
        )
    }

    /// Logs a change that the operator must know of. Names no user and no amount.
    private func logChange(from before: Record?, to after: Record) throws {
        if after.kind == DepositBody.kind {
            let known = try before.map { try Deposit($0).body.booked } ?? [:]
            let facts = try Deposit(after).body.booked.keys.filter { known[$0] == nil }
            // A dispute that has taken money is the fact `dp_…:out`.
            if facts.contains(where: { $0.hasSuffix(":out") }) {
                warn("A deposit is disputed, and Stripe has taken its money back.", after, nil)
            }
        }
        guard after.state != before?.state else { return }
        switch (after.kind, after.state) {
        case (DepositBody.kind, DepositBody.State.held.rawValue):
            warn("A deposit waits for you: see `gotchu-server deposits list --held`.", after, nil)
        case (DepositBody.kind, DepositBody.State.failed.rawValue):
            warn("Stripe refused a deposit.", after, try Deposit(after).body.error)
        case (WithdrawalBody.kind, WithdrawalBody.State.held.rawValue):
            warn(
                "A withdrawal waits for you: see `gotchu-server payouts list --held`.",
                after,
                try Withdrawal(after).body.reason
            )
        case (WithdrawalBody.kind, WithdrawalBody.State.failed.rawValue):
            warn(
                "A withdrawal failed: its money is in the wallet again.",
                after,
                try Withdrawal(after).body.reason
            )
        default: break  // Only these need the operator.
        }
    }

    private func warn(_ sentence: String, _ record: Record, _ reason: ProviderNotice?) {
        // The provider's own text may contain personal data; its code does not.
        logger.warning(
            "\(sentence)",
            metadata: ["record": "\(record.id)", "reason": "\(reason?.code ?? "-")"]
        )
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
    ///
    /// - Parameter isStart: Also reads the records that no refresh has counted yet.
    func countWaiting(isStart: Bool) async throws {
        var waiting = metrics.waiting
        if isStart {
            let scheduled = try await ledger.scheduled(
                excluding: RecordKind.othersThanFunding,
                limit: Self.readLimit
            )
            waiting.formUnion(scheduled.map(\.id))
        }
        for id in waiting {
            guard let record = try await ledger.record(id) else { continue }
            metrics.countState(of: record, previous: record.state)
        }
    }
}
