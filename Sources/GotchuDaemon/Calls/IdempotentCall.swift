import FoundationEssentials
import GotchuAPI
import GotchuCore

/// A call that may be repeated: its idempotency key and its body.
///
/// The call is stored in the record that it created. After a restart, a replay is recognized by it.
/// It is removed with that record.
struct IdempotentCall: Codable, Equatable, Sendable {
    let key: IdempotencyKey
    /// The body as canonical JSON. Equal input has equal text.
    let body: String

    init(key: IdempotencyKey, _ body: some Encodable) {
        self.key = key
        self.body = String(decoding: CanonicalJSON.bytes(of: body), as: UTF8.self)
    }

    /// - Throws: `IDEMPOTENCY_KEY_REUSED` if the earlier call with this key had another body.
    func requireSame(_ earlier: IdempotentCall) throws(Problem) {
        guard body != earlier.body else { return }
        throw Problem(
            .idempotencyKeyReused,
            detail: "This Idempotency-Key was used for another call.",
            fix: "Use a new key for another call."
        )
    }
}
