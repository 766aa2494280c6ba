package import GotchuCore
internal import Synchronization

/// A daily budget for each user of what is stored for ever. Each server counts in memory: a restart
/// begins the day anew.
package final class DailyBudget: Sendable {
    /// The stored refusals about records that do not exist.
    ///
    /// A client whose server was restored from a backup needs such a refusal: it proves that a
    /// payment was not made. But invented ids are refused too, and storing all of those would fill
    /// the database.
    static let unknownRecords = 100
    /// The bytes of rows that no payment needs: drafts, scores, requests that nobody paid, stored
    /// refusals. 60,000 requests without a payment fit, or 4,000 of the longest drafts.
    package static let bytes = 64 << 20
    /// The bytes that a payment puts back into its payee's budget: a paid request costs nothing. A
    /// refund takes them again, so that no money is paid back and forth without a limit.
    static let bytesOfPaidRequest = 2 << 10
    /// The maximum number of users counted. Above it, the day begins anew for all: a limit that was
    /// not reached must not refuse anybody.
    private static let userLimit = 100_000
    private static let day: Int64 = 24 * 3_600_000

    private struct State {
        var day: Int64 = 0
        var spent: [UserID: Int] = [:]
    }

    let limit: Int
    private let state = Mutex(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the time from `time` to the next day's budget, in seconds.
    package static func secondsLeft(at time: Timestamp) -> Int {
        Int((day - time.milliseconds % day + 999) / 1_000)
    }

    /// Returns true if a user has not spent the budget.
    func hasRoom(for user: UserID, at time: Timestamp) -> Bool {
        withState(at: time) { $0.spent[user, default: 0] < limit }
    }

    /// Takes a part of a user's budget. The last part may exceed it.
    ///
    /// - Returns: False, and takes nothing, if the user had spent it before.
    @discardableResult
    func spend(_ amount: Int = 1, for user: UserID, at time: Timestamp) -> Bool {
        withState(at: time) { state in
            let spent = state.spent[user, default: 0]
            guard spent < limit else { return false }
            if spent == 0, state.spent.count >= Self.userLimit { state.spent = [:] }
            state.spent[user] = spent + amount
            return true
        }
    }

    /// Puts back a part that was taken and not used.
    func putBack(_ amount: Int = 1, for user: UserID) {
        state.withLock { state in
            guard let spent = state.spent[user] else { return }
            state.spent[user] = spent > amount ? spent - amount : nil
        }
    }

    private func withState<Result>(at time: Timestamp, _ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let day = time.milliseconds / Self.day
            if state.day != day { state = State(day: day) }
            return body(&state)
        }
    }
}
