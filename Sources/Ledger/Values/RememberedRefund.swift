package import GotchuCore

/// What was answered to a refund's key, refusals included, for the same reason as with payments.
///
/// Never pruned, however old: gotchud derives a refund's key from what is wished, and who wishes
/// the same again after years must get this answer and no second refund. `verify` misses a row that
/// is gone.
package struct RememberedRefund: Equatable, Sendable {
    package let key: SendKey
    package let fingerprint: Fingerprint
    package let session: SessionID
    package let outcome: Outcome
    /// The first request's name; part of the answer that is repeated.
    package let requestID: String
    package let decidedAt: Timestamp

    package init(
        key: SendKey,
        fingerprint: Fingerprint,
        session: SessionID,
        outcome: Outcome,
        requestID: String,
        decidedAt: Timestamp
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.session = session
        self.outcome = outcome
        self.requestID = requestID
        self.decidedAt = decidedAt
    }

    package enum Outcome: Equatable, Sendable {
        case refunded(Made)
        case declined(Refusal)
    }

    /// Money that went back, in minor units.
    package struct Made: Equatable, Sendable {
        package let transfer: TransferID
        package let amount: Int64
        /// What the session has been refunded in all, this included.
        package let total: Int64
        /// The payee's balance right after it.
        package let newBalance: Int64

        package init(transfer: TransferID, amount: Int64, total: Int64, newBalance: Int64) {
            self.transfer = transfer
            self.amount = amount
            self.total = total
            self.newBalance = newBalance
        }
    }
}
