internal import GotchuCore
internal import Synchronization

/// A daily budget per user for stored refusals about records that do not exist.
///
/// A client whose server was restored from a backup needs such a refusal: it proves that a payment
/// was not made. But invented ids are refused too, and storing all of those would fill the
/// database.
final class UnknownRecordBudget: Sendable {
    static let dailyLimit = 100
    /// The maximum number of users counted; others get no budget until the next day.
    private static let userLimit = 10_000
    private static let day: Int64 = 24 * 3_600_000

    private struct State {
        var day: Int64 = 0
        var counts: [UserID: Int] = [:]
    }

    private let state = Mutex(State())

    /// Takes one unit of a user's budget, before it is known if it will be used.
    ///
    /// - Returns: True if there was one left; false otherwise.
    func spend(for user: UserID, at time: Timestamp) -> Bool {
        state.withLock { state in
            if state.day != time.milliseconds / Self.day {
                state = State(day: time.milliseconds / Self.day)
            }
            let count = state.counts[user] ?? 0
            guard count < Self.dailyLimit, count > 0 || state.counts.count < Self.userLimit
            else { return false }
            state.counts[user] = count + 1
            return true
        }
    }

    /// Puts back a unit that was taken and not used.
    func putBack(for user: UserID) {
        state.withLock { state in
            guard let count = state.counts[user] else { return }
            state.counts[user] = count > 1 ? count - 1 : nil
        }
    }
}
