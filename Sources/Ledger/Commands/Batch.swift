internal import GotchuCore
internal import Synchronization

/// The commands of one commit, decided in order, each on the state left by the previous ones. The
/// result is the same as if they were committed one by one.
package struct Batch: Sendable {
    let submissions: [any Submission]
    /// The newest seal of this writer's chain; `nil` if a new chain must begin.
    let tail: Seal?
    private let chain: String?

    /// - Parameter chain: The id of a new chain, if one must begin; random unless given.
    package init(_ submissions: [any Submission], tail: Seal? = nil, chain: String? = nil) {
        self.submissions = submissions
        self.tail = tail
        self.chain = chain
    }

    /// The rows that the commands may touch.
    ///
    /// - Parameter rows: The rows loaded in earlier rounds; `nil` in the first.
    package func footprint(knowing rows: Snapshot?) -> Footprint {
        var footprint = Footprint()
        footprint.needsNewestSeal = tail == nil
        for submission in submissions { submission.touch(&footprint, knowing: rows) }
        return footprint
    }

    /// Decides all commands on at least the rows of their footprint. A command is left undecided if
    /// another transaction has locked one of its rows.
    package func decide(on rows: Snapshot) -> Effects {
        var books = Books(rows)
        for submission in submissions {
            if rows.blocks(submission) {
                submission.leaveUndecided()
            } else {
                submission.decide(on: &books)
            }
        }
        var effects = books.effects
        if !effects.transfers.isEmpty {
            // The newest seal is loaded only if the writer does not know the end of its chain, or
            // has a new connection. Then a new chain begins.
            let previous =
                rows.newestSeal.map { Seal.beginning(of: chain ?? Seal.newChain(), after: $0) }
                ?? tail
            effects.seal = previous?.next(over: effects.transfers)
        }
        return effects
    }
}

/// A type-erased command that waits for its commit. It stores the decision until the commit's
/// outcome is known.
package protocol Submission: Sendable {
    /// The command's name.
    var name: String { get }
    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?)
    /// Decides the command; replaces an earlier decision.
    func decide(on books: inout Books)
    /// Leaves the command undecided.
    func leaveUndecided()
    /// The part of a user's daily budget that the decision used; `nil` if it used none.
    var spent: (user: UserID, bytes: Int)? { get }
    /// Returns the committed decision to the caller.
    ///
    /// - Returns: The kind of decision, for counters.
    func succeed() -> SubmissionEnd
    /// Reports to the caller that the commit failed or its outcome is unknown.
    func fail(_ error: LedgerError)
}

/// The outcome of a command, for counters.
package enum SubmissionEnd: Equatable, Sendable {
    case accepted, replayed
    case refused(Refusal.Reason)
    /// Another transaction had locked a row, or a stored answer could not be read.
    case undecided
}

/// A submission of one type of command.
final class Pending<Command: LedgerCommand>: Submission {
    typealias Outcome = CommandReply<Command.Outcome>

    private let command: Command
    /// The identity under which the answer is stored; `nil` for a command without a key.
    private let request: KeyedRequest?
    private let decideOn: @Sendable (inout Books) throws(LedgerError) -> Outcome
    private let answer: @Sendable (Result<Outcome, LedgerError>) -> Void
    private let decided = Mutex<Result<Outcome, LedgerError>>(.failure(.rowsLocked))

    /// - Parameters:
    ///   - acceptedAt: The time at which the server accepted it: a payment accepted before its
    ///     session expired is valid even if it is decided and committed later.
    ///   - answer: Called once, by the writer: it must not block.
    init(
        _ command: Command,
        at acceptedAt: Timestamp,
        answer: @escaping @Sendable (Result<Outcome, LedgerError>) -> Void
    ) {
        self.command = command
        request = nil
        decideOn = { Outcome($0.decide(command, at: acceptedAt), requestID: "") }
        self.answer = answer
    }

    /// Creates a submission whose answer is stored.
    init(
        _ command: Command,
        as request: KeyedRequest,
        at acceptedAt: Timestamp,
        answer: @escaping @Sendable (Result<Outcome, LedgerError>) -> Void
    ) where Command: KeyedCommand {
        self.command = command
        self.request = request
        decideOn = { (books) throws(LedgerError) in
            try books.decide(command, as: request, at: acceptedAt)
        }
        self.answer = answer
    }

    var name: String { Command.name }

    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        command.touch(&footprint, knowing: rows)
        guard let request else { return }
        footprint.answers.insert(request.answerKey(Command.name))
        footprint.owners.insert(.user(request.user))
    }

    func decide(on books: inout Books) {
        let outcome: Result<Outcome, LedgerError>
        let before = books.newBytes
        do throws(LedgerError) {
            var reply = try decideOn(&books)
            reply.newBytes = books.newBytes - before
            outcome = .success(reply)
        } catch {
            outcome = .failure(error)
        }
        decided.withLock { $0 = outcome }
    }

    /// The reply that was decided.
    ///
    /// - Throws: `tryAgain` if it was left undecided, `corrupt` if a stored answer cannot be read.
    var reply: Result<Outcome, LedgerError> { decided.withLock { $0 } }

    var spent: (user: UserID, bytes: Int)? {
        guard case .success(let reply) = reply, reply.newBytes > 0 else { return nil }
        // A stored refusal costs its user even if the command is a payment.
        let isRefused = if case .failure = reply.outcome { true } else { false }
        let user = command.spender ?? (isRefused ? request?.user : nil)
        return user.map { ($0, reply.newBytes) }
    }

    func leaveUndecided() { decided.withLock { $0 = .failure(.rowsLocked) } }

    func succeed() -> SubmissionEnd {
        let reply = reply
        answer(reply)
        guard case .success(let outcome) = reply else { return .undecided }
        if outcome.isReplay { return .replayed }
        return switch outcome.outcome {
        case .success: .accepted
        case .failure(let refusal): .refused(refusal.reason)
        }
    }

    func fail(_ error: LedgerError) { answer(.failure(error)) }
}

extension LedgerStorage {
    /// Commits a single command, for programs other than the servers.
    package func commit<Command: LedgerCommand>(
        _ command: Command
    ) async throws(LedgerError) -> Result<Command.Outcome, Refusal> {
        let pending = Pending(command, at: now) { _ in }
        _ = try await commit(Batch([pending]))
        return try pending.reply.get().outcome
    }
}
