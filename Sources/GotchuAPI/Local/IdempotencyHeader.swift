/// The headers of calls that can be repeated safely.
package enum IdempotencyHeader {
    /// The caller's idempotency key.
    package static let key = "Idempotency-Key"
    /// `true` in the reply to a repeated call.
    package static let replayed = "Idempotent-Replayed"
}
