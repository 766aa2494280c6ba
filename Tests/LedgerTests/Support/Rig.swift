import GotchuCore
import Ledger
import LedgerTestSupport
import Payments

/// A ledger in memory, which decides commands one by one or in a batch. The test sets its clock.
struct Rig {
    var books = MemoryBooks()
    /// The time in milliseconds.
    var time: Int64 = 1_000
    private var number = 0

    /// Creates three users with ten cents each.
    init() {
        for user in 0..<3 { submit(.open(user: user)) }
    }

    @discardableResult
    mutating func submit(_ action: Step.Action) -> StepAnswer {
        answer(to: submission(of: action))
    }

    @discardableResult
    mutating func decide(_ command: some LedgerCommand) -> StepAnswer {
        answer(to: Submitted(command, at: Timestamp(milliseconds: time)))
    }

    @discardableResult
    mutating func decide(
        _ command: some KeyedCommand,
        as request: KeyedRequest
    ) -> StepAnswer {
        answer(to: Submitted(command, as: request, at: Timestamp(milliseconds: time)))
    }

    private mutating func answer(to submitted: Submitted) -> StepAnswer {
        commit([submitted])
        guard let answer = submitted.answer else { preconditionFailure("nobody holds a row") }
        return answer
    }

    /// Returns an action as a submission for a batch.
    mutating func submission(of action: Step.Action) -> Submitted {
        number += 1
        return Step(time: time, action: action).submission(number: number)
    }

    /// Decides commands as one batch.
    @discardableResult
    mutating func commit(_ submitted: [Submitted]) -> Effects {
        do {
            return try books.commit(Batch(submitted))
        } catch {
            preconditionFailure("the rows of a test can be read: \(error)")
        }
    }

    /// Creates session 0 of user 0, for 5 cents and 300 seconds, and brings the session into a
    /// state. User 1 is the payer. An expiry is not recorded: only the time passes.
    mutating func bring(to status: SessionStatus) {
        submit(.create(session: 0, payee: 0, amount: 5, seconds: 300, proposesTaken: false))
        switch status {
        case .created, .advertising: break
        case .locked: submit(.lock(session: 0, user: 1))
        case .paid:
            submit(.lock(session: 0, user: 1))
            submit(.send(session: 0, user: 1, key: 2, expected: nil))
        case .expired: time += 300_000
        case .cancelled: submit(.cancel(session: 0, user: 0))
        }
    }

    func balance(of user: Int) -> Int64? { books.rows.accounts[Cast.account(user)]?.balance }
}
