internal import GotchuCore
internal import Synchronization

/// The time as replies say it, written once in a second.
final class ReplyDate: Sendable {
    private let last = Mutex<(second: Int64, text: String)>((.min, ""))

    var text: String {
        let now = Timestamp.now
        let second = now.milliseconds / 1_000
        return last.withLock { last in
            if last.second != second { last = (second, now.httpDate) }
            return last.text
        }
    }
}
