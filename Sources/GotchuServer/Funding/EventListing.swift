internal import Funding
internal import GotchuCore
internal import Ledger
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
    /// The largest number of records that are looked at in one reading.
    static let lookLimit = 500

    let ledger: Ledger
    let looks: FundingLooks

    /// Reads what is new. What it does not come to is read the next time.
    func read() async throws {
        guard looks.gate.isOpen, let record = try await ledger.record(Provider.id) else { return }
        let begin = ledger.now
        let watermark = try Provider(record).body.watermark
        let from = max(
            watermark.advanced(by: .zero - Self.overlap),
            begin.advanced(by: .zero - Self.memory)
        )
        let outcome = await looks.provider.all {
            StripeCall.events(from: from, to: nil, after: $0)
        }
        guard case .done(let events) = outcome else { throw ProviderAway() }
        var seen: Set<RecordID> = []
        // Oldest first, so that a reading that is cut short has read all before some time.
        for event in events.reversed() where ProviderEvent.types.contains(event.type) {
            guard case .record(let id) = try await ProviderEvent.record(of: event, in: ledger),
                seen.insert(id).inserted
            else { continue }
            guard seen.count <= Self.lookLimit, looks.gate.isOpen else {
                return try await advance(to: event.created)
            }
            _ = try await looks.look(at: id)
        }
        try await advance(to: begin)
    }

    private func advance(to time: Timestamp) async throws {
        _ = try await ledger.submit(AdvanceWatermark(to: time)).accepted()
    }
}

/// The failure of a call that has not told what it was to tell.
struct ProviderAway: Error {}
