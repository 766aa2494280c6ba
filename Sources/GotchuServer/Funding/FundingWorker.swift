internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import ServiceLifecycle
internal import ServiceProcess
internal import Stripe

/// Does the provider work that is due: opens ordered objects, refreshes open ones, and reads the
/// list of events. The list replaces webhooks that are lost or cannot reach this server.
///
/// Payments never wait for this worker. While Stripe is unavailable, it retries with growing
/// delays.
struct FundingWorker: Service {
    /// The interval at which due records are claimed.
    static let interval: Duration = .milliseconds(500)
    /// The lease of a claimed record. It is longer than all calls of one refresh take.
    static let lease: Duration = .seconds(180)
    /// The interval at which the list of events is read.
    static let listingInterval: Duration = .seconds(600)
    /// The interval at which the records that wait for the operator are read again.
    static let countingInterval: Duration = .seconds(10)
    /// The delay before Stripe is asked again for the key's account.
    static let bindingInterval: Duration = .seconds(10)

    let ledger: Ledger
    let refresher: RecordRefresher
    let refreshQueue: SharedRefreshQueue
    let isLive: Bool
    let payouts: PayoutTerms
    let logger: Logger

    /// Runs until shutdown.
    ///
    /// - Throws: `ServerFailure` if the key's account or mode is not the ledger's.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingDiscardingTaskGroup { group in
                // Also while Stripe is away.
                group.addTask { await countWaiting() }
                try await bind()
                group.addTask { await claim() }
                group.addTask { await listEvents() }
                group.addTask {
                    await withDiscardingTaskGroup { group in
                        for await _ in refreshQueue.signals {
                            for record in refreshQueue.dequeue() {
                                group.addTask { await refresh(record) }
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: The account

    /// Waits until Stripe has returned the key's account, and binds the ledger to it.
    private func bind() async throws {
        var failures = FailureLog(
            logger,
            failure: "Stripe does not say whose key this is: nobody can deposit or withdraw.",
            recovery: "Stripe answers: deposits and withdrawals work."
        )
        while !Task.isCancelled {
            let outcome = await refresher.provider.client.send(.ownAccount)
            do {
                switch outcome {
                case .done(let account):
                    try await bind(to: account)
                    failures.recordSuccess()
                    return refresher.gate.bind()
                case .misconfigured: break  // The gate has logged the refused key.
                case .refused, .insufficient, .unknown, .unresolved, .throttled, .keyReused:
                    failures.recordFailure(outcome.failure ?? ProviderUnavailable())
                }
            } catch let error as LedgerError {
                failures.recordFailure(error)
            }
            // Polls: nothing announces that Stripe or the key works again.
            try? await Task.sleep(for: Self.bindingInterval)
        }
    }

    private func bind(to account: ConnectedAccount) async throws {
        warnOfCurrency(of: account)
        let command = BindProvider(account: account.id, isLive: isLive, payouts: payouts)
        switch try await ledger.submit(command) {
        case .success: return
        case .failure(let refusal) where refusal.reason == .otherProvider:
            throw ServerFailure(
                .badData,
                "Stripe's key is of another account, or of another mode, than these books.",
                fix: "Use the key of the account that the books belong to, or other books: what "
                    + "one account owes is not another's."
            )
        case .failure(let refusal): throw refusal.thrown
        }
    }

    /// Warns if the account settles in another currency than the ledger's.
    private func warnOfCurrency(of account: ConnectedAccount) {
        let currency = FundingOperations.currency.rawValue
        guard let theirs = account.defaultCurrency, theirs.lowercased() != currency.lowercased()
        else { return }
        logger.warning(
            """
            Stripe's account settles in another currency than these books, unless it has a bank \
            account for theirs: then what it converts is not in the books, and `reconcile` says so.
            """,
            metadata: ["account": "\(theirs)", "books": "\(currency)"]
        )
    }

    // MARK: Due records

    private func claim() async {
        var failures = FailureLog(
            logger,
            failure: "Due deposits and withdrawals cannot be read.",
            recovery: "Due deposits and withdrawals can be read again."
        )
        while !Task.isCancelled {
            // Polls: records become due by the clock, and another server may have created them. A
            // record claimed after the stop would be left alone until its lease ends.
            guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
            guard refresher.gate.isOpen else { continue }
            do {
                for kind in [WithdrawalBody.kind, DepositBody.kind, PayeeBody.kind] {
                    // Claims only as many as can be refreshed now: other servers claim the rest.
                    let free = refreshQueue.free
                    guard free > 0, !Task.isCancelled else { break }
                    let due = try await ledger.claimDue(
                        kind: kind,
                        leaseFor: Self.lease,
                        limit: free
                    )
                    for record in due { refreshQueue.enqueue(record.id) }
                }
                // Records that wait for their earliest start wait for this signal.
                refreshQueue.wake()
                failures.recordSuccess()
            } catch {
                failures.recordFailure(error)
            }
        }
    }

    /// Refreshes a dequeued record. Repeats it later if only the database was unavailable.
    private func refresh(_ record: RecordID) async {
        var isRepeated = false
        do {
            _ = try await refresher.refresh(record)
        } catch {
            if let error = error as? LedgerError {
                isRepeated = error.code == .tryAgain || error.code == .unknownOutcome
            }
            // Otherwise the record is due again when its lease ends.
            refresher.log(error, of: record)
        }
        refreshQueue.finish(record, isRepeated: isRepeated)
    }

    // MARK: The list of events

    private func listEvents() async {
        var poller = EventPoller(ledger: ledger, refresher: refresher, logger: logger)
        var failures = FailureLog(
            logger,
            failure: "Stripe's list of events cannot be read.",
            recovery: "Stripe's list of events can be read again."
        )
        while !Task.isCancelled {
            do {
                try await poller.read()
                failures.recordSuccess()
            } catch {
                failures.recordFailure(error)
            }
            // Polls: nothing announces events whose webhook was lost.
            try? await Task.sleep(for: Self.listingInterval)
        }
    }

    // MARK: The metrics

    private func countWaiting() async {
        var isStart = true
        while !Task.isCancelled {
            do {
                try await refresher.countWaiting(isStart: isStart)
                isStart = false
            } catch {
                // The metrics keep what this server has last seen.
            }
            // Polls: the operator's commands and other servers write to the database only.
            try? await Task.sleep(for: Self.countingInterval)
        }
    }
}
