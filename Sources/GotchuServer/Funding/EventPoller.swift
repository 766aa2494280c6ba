internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import Stripe

/// Reads Stripe's events since the last reading, and refreshes the records that they are about.
///
/// Events of connected accounts are not in this list. Payees and payouts are refreshed on their own
/// schedule.
struct EventPoller: Sendable {
    /// The overlap with the previous reading. Stripe may list an event late.
    static let overlap: Duration = .seconds(900)
    /// The time for which Stripe keeps events, less a safety margin of a day.
    static let memory: Duration = .seconds(29 * 24 * 3_600)
    /// The time span of one list request. After a failure, at most this span and the overlap are
    /// read again.
    static let span: Duration = .seconds(3_600)
    /// The maximum number of records that are refreshed in one reading.
    static let refreshLimit = 500

    let ledger: Ledger
    let refresher: RecordRefresher
    let logger: Logger
    /// The handled events that the next reading will list again, with their times.
    private var seen: [String: Timestamp] = [:]

    init(ledger: Ledger, refresher: RecordRefresher, logger: Logger) {
        self.ledger = ledger
        self.refresher = refresher
        self.logger = logger
    }

    /// Reads the new events, oldest first. If the limit is reached, the next reading continues
    /// there.
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

    /// Refreshes a record. If the result cannot be booked, logs the error: the other records are
    /// still refreshed.
    ///
    /// - Throws: `LedgerError` if the ledger fails. The whole span is then read again.
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
