package import GotchuCore

/// The decision stored permanently for one idempotency key of a user. A resend gets the same answer
/// and moves no more money. Most refusals are stored too. Otherwise a payer could be charged by a
/// retry after being told that the payment was refused.
package struct Answer: Equatable, Sendable {
    /// The scope of an idempotency key: one user and one command.
    package struct Key: Hashable, Sendable {
        package let user: UserID
        package let command: String
        package let key: IdempotencyKey

        package init(user: UserID, command: String, key: IdempotencyKey) {
            self.user = user
            self.command = command
            self.key = key
        }
    }

    /// An outcome, as the command's canonical JSON, or a refusal.
    package enum Decision: Equatable, Sendable {
        case outcome(String)
        case refused(Refusal)
    }

    package let key: Key
    package let fingerprint: Fingerprint
    package let decision: Decision
    /// The record that the command is about.
    package let record: RecordID
    /// The step of the transfer that it posted, if it moved money.
    package let step: String?
    /// The id of the original request, repeated in every replay.
    package let requestID: String
    package let decidedAt: Timestamp

    package init(
        key: Key,
        fingerprint: Fingerprint,
        decision: Decision,
        record: RecordID,
        step: String?,
        requestID: String,
        decidedAt: Timestamp
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.decision = decision
        self.record = record
        self.step = step
        self.requestID = requestID
        self.decidedAt = decidedAt
    }

    /// The key of the transfer that it posted, if any.
    package var transfer: Transfer.Key? { step.map { Transfer.Key(record, $0) } }
}

/// The SHA-256 of a request's parsed parameters, to distinguish a resend from a different request.
package struct Fingerprint: Hashable, Sendable {
    package static let length = 32

    package let bytes: [UInt8]

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}
