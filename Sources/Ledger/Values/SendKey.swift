package import GotchuCore

/// The scope of an idempotency key: a user's own. Another user's equal key is another key.
package struct SendKey: Hashable, Sendable {
    package let user: UserID
    package let key: IdempotencyKey

    package init(user: UserID, key: IdempotencyKey) {
        self.user = user
        self.key = key
    }
}
