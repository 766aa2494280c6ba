package import GotchuCore

/// What was answered to a payment's key, kept so that a resend gets the same answer and no more
/// money moves: refusals too, or a retry could turn "declined" into "charged" behind the payer's
/// back.
package struct RememberedSend: Equatable, Sendable {
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
        /// The money moved; the payer's balance right after it.
        case paid(TransferID, newBalance: Int64)
        case declined(Refusal)
    }
}
