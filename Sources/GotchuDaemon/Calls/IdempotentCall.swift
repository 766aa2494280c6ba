import FoundationEssentials
import GotchuAPI
import GotchuCore

/// A call that may be repeated: its idempotency key and its body.
///
/// Stored in the record that the call created, so that a replay after a restart is recognized;
/// removed with that record.
struct IdempotentCall: Codable, Equatable, Sendable {
    let key: IdempotencyKey
    /// The body as canonical JSON: equal input has equal text.
    let body: String

    init(key: IdempotencyKey, _ body: some Encodable) {
        self.key = key
        self.body = String(decoding: CanonicalJSON.bytes(of: body), as: UTF8.self)
    }

    /// - Throws: `IDEMPOTENCY_KEY_REUSED` if the same key asked for something else before.
    func requireSame(_ earlier: IdempotentCall) throws(Problem) {
        guard body != earlier.body else { return }
        throw Problem(
            .idempotencyKeyReused,
            detail: "This Idempotency-Key was used for another call.",
            fix: "Use a new key for another call."
        )
    }
}
