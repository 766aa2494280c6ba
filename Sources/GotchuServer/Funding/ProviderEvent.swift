internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// The record that an event of Stripe's is about.
enum ProviderEvent {
    /// The types that something here may follow from.
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
        /// Its metadata names a record of ours that these books do not have.
        case missing
        /// Somebody else's.
        case foreign
    }

    /// Finds the record: by the object's own id or its payment's, by our id in its metadata, by
    /// the account.
    static func record(
        of event: StripeEvent,
        in ledger: Ledger
    ) async throws(LedgerError) -> Found {
        let subject = event.subject
        for id in [subject.id, subject.paymentIntent].compactMap(\.self) {
            if let found = try await record(ofObject: id, in: ledger) { return .record(found) }
        }
        let names = [StripeProvider.depositName, StripeProvider.withdrawalName]
        for id in names.compactMap({ subject.metadata[$0] }) {
            let record = RecordID(trusted: id)
            return try await ledger.record(record) == nil ? .missing : .record(record)
        }
        // A payout's event names its account too, whose payee is another matter.
        guard subject.kind == "account" || subject.kind == "capability" else { return .foreign }
        if let account = event.account,
            let found = try await record(ofObject: account, in: ledger)
        {
            return .record(found)
        }
        guard let user = subject.metadata[StripeProvider.userName] else { return .foreign }
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
