/// The headers of calls that can be repeated safely.
package enum IdempotencyHeader {
    /// The caller's key, for `POST /v1/requests` and `POST /v1/payments`.
    package static let key = "Idempotency-Key"
    /// `true` in the reply to a repeated call.
    package static let replayed = "Idempotent-Replayed"
}
