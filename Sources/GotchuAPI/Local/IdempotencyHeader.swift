/// The headers of calls that may be repeated without doing twice what they ask for.
package enum IdempotencyHeader {
    /// Names the caller's wish: `POST /v1/requests` and `POST /v1/payments` take it.
    package static let key = "Idempotency-Key"
    /// `true` in the reply to a repeated call.
    package static let replayed = "Idempotent-Replayed"
}
