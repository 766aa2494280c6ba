internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import ServiceLifecycle
internal import ServiceProcess
internal import Stripe

/// Works on what is due at the provider: opens what was ordered, looks at what is open, and reads
/// the list of events, in case that webhooks are lost or cannot reach this server.
///
/// It is never in a payment's way. While Stripe is away it tries, ever less often, and all else
/// goes on.
struct FundingWorker: Service {
    /// The interval at which due records are claimed.
    static let interval: Duration = .milliseconds(500)
    /// The lease of a claimed record, longer than all calls of one look.
    static let lease: Duration = .seconds(180)
    /// The interval at which the list of events is read.
    static let listingInterval: Duration = .seconds(600)
    /// The wait before the account is asked for again.
    static let bindingInterval: Duration = .seconds(10)

    let ledger: Ledger
    let looks: FundingLooks
    let bells: FundingBells
    let isLive: Bool
    let payouts: PayoutTerms
    let logger: Logger

    /// Works until a stop.
    ///
    /// - Throws: `ServerFailure` if the key is of another account than that of the books.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await bind()
            await withDiscardingTaskGroup { group in
                group.addTask { await claim() }
                group.addTask { await listEvents() }
                group.addTask {
                    await withDiscardingTaskGroup { group in
                        for await _ in bells.signals {
                            for record in bells.begin() {
                                group.addTask {
                                    await look(at: record)
                                    bells.end(record)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: The account

    /// Waits until Stripe has said which account the key is of, and binds the books to it.
    private func bind() async throws {
        var failures = FailureLog(
            logger,
            level: .warning,
            failure: "Stripe does not say whose key this is: nobody can deposit or withdraw.",
            recovery: "Stripe answers: deposits and withdrawals work."
        )
        while !Task.isCancelled {
            do {
                if try await isBound() {
                    failures.worked()
                    return looks.gate.bind()
                }
                failures.failed(ProviderAway())
            } catch let error as LedgerError {
                failures.failed(error)
            }
            // Nothing tells that Stripe, or the key, is well again.
            try? await Task.sleep(for: Self.bindingInterval)
        }
    }

    private func isBound() async throws -> Bool {
        guard case .done(let account) = await looks.provider.client.send(.ownAccount) else {
            return false
        }
        warnOfCurrency(of: account)
        let command = BindProvider(account: account.id, isLive: isLive, payouts: payouts)
        switch try await ledger.submit(command) {
        case .success: return true
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

    /// Warns of an account that keeps its money in another currency than these books.
    private func warnOfCurrency(of account: ConnectedAccount) {
        let currency = FundingDesk.currency.rawValue
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
            // A record is due by the clock, and another server may have made it.
            try? await Task.sleep(for: Self.interval)
            guard looks.gate.isOpen else { continue }
            do {
                for kind in [WithdrawalBody.kind, DepositBody.kind, PayeeBody.kind] {
                    // No more than can be looked at now: the rest is another server's.
                    let free = bells.free
                    guard free > 0 else { break }
                    let due = try await ledger.claimDue(
                        kind: kind,
                        leaseFor: Self.lease,
                        limit: free
                    )
                    for record in due { bells.ring(record.id) }
                }
                // Bells that came within a second of a look wait for this.
                bells.wake()
                failures.worked()
            } catch {
                failures.failed(error)
            }
        }
    }

    private func look(at record: RecordID) async {
        do {
            _ = try await looks.look(at: record)
        } catch {
            // It is due again when its lease ends.
            logger.info(
                "A look at a deposit, a withdrawal or a payee failed.",
                metadata: ["record": "\(record)", "error": "\(error)"]
            )
        }
    }

    // MARK: The list of events

    private func listEvents() async {
        var listing = EventListing(ledger: ledger, looks: looks, logger: logger)
        var failures = FailureLog(
            logger,
            failure: "Stripe's list of events cannot be read.",
            recovery: "Stripe's list of events can be read again."
        )
        while !Task.isCancelled {
            do {
                try await looks.countWaiting()
                try await listing.read()
                failures.worked()
            } catch {
                failures.failed(error)
            }
            // The list is for webhooks that never came: nothing announces it.
            try? await Task.sleep(for: Self.listingInterval)
        }
    }
}
