internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// Finds the record that a Stripe event is about.
enum ProviderEvent {
    /// The event types that can change a record.
    static let types: Set = [
        "payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled",
        "checkout.session.completed", "checkout.session.expired", "charge.updated",
        "refund.created", "refund.updated", "refund.failed", "charge.dispute.created",
        "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated",
        "charge.dispute.closed", "transfer.created", "transfer.reversed", "account.updated",
        "capability.updated", "payout.updated", "payout.paid", "payout.failed", "payout.canceled",
    ]

    /// The result of the search for a record.
    enum Found: Equatable {
        case record(RecordID)
        /// The object's metadata has an id of ours that is not in this ledger.
        case missing
        /// The object does not belong to this server.
        case foreign
    }

    /// Finds the record by the id of the event's object or of its payment, else by our id in the
    /// metadata. For an account or capability, also searches by the account and by our user's id.
    static func record(
        of event: StripeEvent,
        in ledger: Ledger
    ) async throws(LedgerError) -> Found {
        let subject = event.subject
        for id in [subject.id, subject.paymentIntent].compactMap(\.self) {
            if let found = try await record(ofObject: id, in: ledger) { return .record(found) }
        }
        let names = [StripeProvider.depositMetadataKey, StripeProvider.withdrawalMetadataKey]
        for id in names.compactMap({ subject.metadata[$0] }) {
            let record = RecordID(trusted: id)
            return try await ledger.record(record) == nil ? .missing : .record(record)
        }
        // A payout's event has an account's id too, but is not about the payee.
        guard subject.kind == "account" || subject.kind == "capability" else { return .foreign }
        if let account = event.account,
            let found = try await record(ofObject: account, in: ledger)
        {
            return .record(found)
        }
        guard let user = subject.metadata[StripeProvider.userMetadataKey] else { return .foreign }
        let payee = Payee.id(of: UserID(trusted: user))
        return try await ledger.record(payee) == nil ? .missing : .record(payee)
    }

    private static func record(
        ofObject id: String,
        in ledger: Ledger
    ) async throws(LedgerError) -> RecordID? {
        guard let named = try await ledger.record(named: Posting.name(ofObject: id)) else {
            return nil
        }
        return named.record.id
    }
}
