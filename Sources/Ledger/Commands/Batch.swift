internal import GotchuCore
internal import Synchronization

/// Commands that one commit carries, strictly in their order, each decided on what those before it
/// left. A batch comes to the same as its commands one by one.
package struct Batch: Sendable {
    let submissions: [any Submission]
    /// The seal that the next one of this writer follows; `nil` if a new chain must begin.
    let tail: Seal?
    private let chain: String?

    /// - Parameter chain: The id of the chain that begins if one must; a new one unless said.
    package init(_ submissions: [any Submission], tail: Seal? = nil, chain: String? = nil) {
        self.submissions = submissions
        self.tail = tail
        self.chain = chain
    }

    /// The rows that the commands may touch.
    ///
    /// - Parameter rows: What was loaded in the rounds before; `nil` in the first.
    package func footprint(knowing rows: Snapshot?) -> Footprint {
        var footprint = Footprint()
        footprint.needsNewestSeal = tail == nil
        for submission in submissions { submission.touch(&footprint, knowing: rows) }
        return footprint
    }

    /// Decides all commands on at least the rows of their footprint. A command of which another
    /// transaction holds a row is not decided.
    ///
    package func decide(on rows: Snapshot) -> Effects {
        var books = Books(rows)
        for submission in submissions {
            if rows.holdsBack(submission) {
                submission.hold()
            } else {
                submission.decide(on: &books)
            }
        }
        var effects = books.effects
        if !effects.transfers.isEmpty {
            // A loaded newest seal means that the writer does not know the end of its chain.
            let previous =
                rows.newestSeal.map { Seal.beginning(of: chain ?? Seal.newChain(), after: $0) }
                ?? tail
            effects.seal = previous?.next(over: effects.transfers)
        }
        return effects
    }
}

/// A command that waits for its commit, whatever its type. It keeps what was decided until it is
/// known that it was committed.
package protocol Submission: Sendable {
    /// The command's name.
    var name: String { get }
    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?)
    /// Decides, and forgets what was decided before.
    func decide(on books: inout Books)
    /// Leaves it undecided.
    func hold()
    /// Tells the caller what was decided, now that it is committed.
    ///
    /// - Returns: What it came to.
    func succeed() -> SubmissionEnd
    /// Tells the caller that nothing is known to be committed.
    func fail(_ error: LedgerError)
}

/// The end of a command, for counters.
package enum SubmissionEnd: Equatable, Sendable {
    case accepted, replayed
    case refused(Refusal.Reason)
    /// Another transaction held a row, or one could not be read.
    case undecided
}

/// A submission of one type of command.
final class Pending<Command: LedgerCommand>: Submission {
    typealias Outcome = CommandReply<Command.Outcome>

    private let command: Command
    /// The identity under which its answer is remembered, if it is.
    private let request: KeyedRequest?
    private let decideOn: @Sendable (inout Books) throws(LedgerError) -> Outcome
    private let answer: @Sendable (Result<Outcome, LedgerError>) -> Void
    private let decided = Mutex<Result<Outcome, LedgerError>>(.failure(.held))

    /// - Parameters:
    ///   - acceptedAt: The time at which the server accepted it: a payment accepted before its
    ///     session expired is good even if it is decided and committed later.
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

    /// A submission whose answer is remembered.
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
        do throws(LedgerError) {
            outcome = .success(try decideOn(&books))
        } catch {
            outcome = .failure(error)
        }
        decided.withLock { $0 = outcome }
    }

    /// The reply that was decided.
    ///
    /// - Throws: `tryAgain` if it was held, `corrupt` if what was remembered cannot be read.
    var reply: Result<Outcome, LedgerError> { decided.withLock { $0 } }

    func hold() { decided.withLock { $0 = .failure(.held) } }

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
    /// Commits one command alone, for programs beside the servers.
    package func commit<Command: LedgerCommand>(
        _ command: Command
    ) async throws(LedgerError) -> Result<Command.Outcome, Refusal> {
        let pending = Pending(command, at: now) { _ in }
        _ = try await commit(Batch([pending]))
        return try pending.reply.get().outcome
    }
}
