internal import Funding
internal import GotchuCore
internal import Ledger
internal import Logging
internal import Stripe

/// Reads Stripe's list of events since the last reading, and looks at what they are about.
///
/// Events of connected accounts are not in it: payees and payouts are looked at by their own
/// schedule.
struct EventListing: Sendable {
    /// The time before the last reading from which events are read again: they may be listed late.
    static let overlap: Duration = .seconds(900)
    /// The time for which Stripe keeps events, a day less to be safe.
    static let memory: Duration = .seconds(29 * 24 * 3_600)
    /// The span of one list: a failure repeats no more.
    static let span: Duration = .seconds(3_600)
    /// The largest number of records that are looked at in one reading.
    static let lookLimit = 500

    let ledger: Ledger
    let looks: FundingLooks
    let logger: Logger
    /// The events that were looked at and will be listed again, with their times.
    private var seen: [String: Timestamp] = [:]

    init(ledger: Ledger, looks: FundingLooks, logger: Logger) {
        self.ledger = ledger
        self.looks = looks
        self.logger = logger
    }

    /// Reads what is new, oldest first. What it does not come to is read the next time.
    mutating func read() async throws {
        guard looks.gate.isOpen, let record = try await ledger.record(Provider.id) else { return }
        let now = ledger.now
        var start = max(
            try Provider(record).body.watermark.advanced(by: .zero - Self.overlap),
            now.advanced(by: .zero - Self.memory)
        )
        var looked: Set<RecordID> = []
        while start < now {
            let end = min(now, start.advanced(by: Self.span))
            let outcome = await looks.provider.all(pages: StripeProvider.longList) {
                StripeCall.events(from: start, to: end, after: $0)
            }
            guard case .done(let events) = outcome else { throw ProviderAway() }
            for event in events.reversed()
            where ProviderEvent.types.contains(event.type) && seen[event.id] == nil {
                guard looked.count < Self.lookLimit, looks.gate.isOpen else {
                    return try await advance(to: event.created)
                }
                if case .record(let id) = try await ProviderEvent.record(of: event, in: ledger),
                    looked.insert(id).inserted
                {
                    try await look(at: id)
                }
                seen[event.id] = event.created
            }
            try await advance(to: end)
            let oldest = end.advanced(by: .zero - Self.overlap)
            seen = seen.filter { $0.value >= oldest }
            start = end
        }
    }

    /// Looks at a record. One that is refused, since it cannot be read, keeps no others from being
    /// looked at.
    ///
    /// - Throws: If the books cannot be read: all of it is read again.
    private func look(at record: RecordID) async throws {
        do {
            _ = try await looks.look(at: record)
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

/// The failure of a call that has not told what it was to tell.
struct ProviderAway: Error {}
