internal import GotchuCore
internal import Synchronization

/// The `Date` field of replies.
enum HTTPDate {
    /// The field of the current second, formatted once.
    private static let cached = Mutex((second: Int64.min, text: ""))

    /// The current time to the second (RFC 9110, 6.6.1).
    static var now: String {
        let now = Timestamp.now
        let second = now.milliseconds / 1_000
        return cached.withLock { cached in
            if cached.second != second { cached = (second, now.httpDate) }
            return cached.text
        }
    }
}
