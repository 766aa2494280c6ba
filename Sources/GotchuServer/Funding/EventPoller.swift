internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import Stripe

/// Reads Stripe's events since the last reading, and refreshes the records they are about.
///
/// Events of connected accounts are not in this list: payees and payouts are refreshed on their
/// own schedule.
struct EventPoller: Sendable {
    /// The overlap with the previous reading: Stripe may list events late.
    static let overlap: Duration = .seconds(900)
    /// The time for which Stripe keeps events, less a day to be safe.
    static let memory: Duration = .seconds(29 * 24 * 3_600)
    /// The time span of one list request. After a failure at most this much is read again.
    static let span: Duration = .seconds(3_600)
    /// The largest number of records that are refreshed in one reading.
    static let refreshLimit = 500

    let ledger: Ledger
    let refresher: RecordRefresher
    let logger: Logger
    /// The events already handled that will be listed again, with their times.
    private var seen: [String: Timestamp] = [:]

    init(ledger: Ledger, refresher: RecordRefresher, logger: Logger) {
        self.ledger = ledger
        self.refresher = refresher
        self.logger = logger
    }

    /// Reads the new events, oldest first. Events beyond the limit are read the next time.
    mutating func read() async throws {
        guard refresher.gate.isOpen, let record = try await ledger.record(Provider.id) else {
            return
        }
        let now = ledger.now
        var start = max(
            try Provider(record).body.watermark.advanced(by: .zero - Self.overlap),
            now.advanced(by: .zero - Self.memory)
        )
        var refreshed: Set<RecordID> = []
        while start < now {
            let end = min(now, start.advanced(by: Self.span))
            let outcome = await refresher.provider.all(pages: StripeProvider.fullListPageLimit) {
                StripeCall.events(from: start, to: end, after: $0)
            }
            guard case .done(let events) = outcome else { throw ProviderUnavailable() }
            for event in events.reversed()
            where ProviderEvent.types.contains(event.type) && seen[event.id] == nil {
                guard refreshed.count < Self.refreshLimit, refresher.gate.isOpen else {
                    return try await advance(to: event.created)
                }
                if case .record(let id) = try await ProviderEvent.record(of: event, in: ledger),
                    refreshed.insert(id).inserted
                {
                    try await refresh(id)
                }
                seen[event.id] = event.created
            }
            try await advance(to: end)
            let oldest = end.advanced(by: .zero - Self.overlap)
            seen = seen.filter { $0.value >= oldest }
            start = end
        }
    }

    /// Refreshes a record. A result that cannot be booked is logged, and the other records are
    /// still refreshed.
    ///
    /// - Throws: If the ledger cannot be read: the whole span is read again.
    private func refresh(_ record: RecordID) async throws {
        do {
            _ = try await refresher.refresh(record)
        } catch let error where !(error is LedgerError) {
            logger.error(
                "What Stripe tells of a record cannot be booked: run `gotchu-server verify`.",
                metadata: ["record": "\(record)", "error": "\(error)"]
            )
        }
    }

    private func advance(to time: Timestamp) async throws {
        _ = try await ledger.submit(AdvanceWatermark(to: time)).accepted()
    }
}

/// The failure of a provider call that returned no usable reply.
struct ProviderUnavailable: Error {}
