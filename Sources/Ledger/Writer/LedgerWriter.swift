package import GotchuCore
package import Logging
internal import ServiceLifecycle
internal import ServiceProcess
internal import Synchronization

/// The only writer of this server. Commits the commands that queued up during the last commit,
/// decided in order, and answers each caller.
///
/// There is no timer: a single command is committed at once, and batches grow under load.
package final class LedgerWriter: Service {
    /// The maximum number of commands per commit.
    static let batchLimit = 256
    /// The default limit of waiting commands; commands beyond it fail with `tryAgain`.
    package static let queueLimit = 8_192
    /// The longest time for which command times stay constant after the clock was set back. Without
    /// a limit, a clock that was briefly two hours ahead would keep sessions open for two hours.
    static let stallLimit: Duration = .seconds(2)

    private struct State {
        var queue: [any Submission] = []
        var isStopped = false
        var lastAccepted = Timestamp(milliseconds: .min)

        /// Sets the time of the next command.
        ///
        /// - Returns: The step by which the time goes back, if it does.
        mutating func accept(at now: Timestamp) -> Duration? {
            guard now < lastAccepted else {
                lastAccepted = now
                return nil
            }
            let step = now.duration(to: lastAccepted)
            guard step > LedgerWriter.stallLimit else { return nil }
            lastAccepted = now
            return step
        }
    }

    private let store: any LedgerStorage
    private let feed: ChangeFeed
    private let metrics: LedgerMetrics
    private let queueLimit: Int
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let failures = LogThrottle()
    private let budget = DailyBudget(limit: DailyBudget.bytes)
    private let state = Mutex(State())
    private let (work, hasWork) = AsyncStream.makeStream(
        of: Void.self,
        bufferingPolicy: .bufferingNewest(1)
    )

    package init(
        store: any LedgerStorage,
        feed: ChangeFeed,
        logger: Logger,
        metrics: LedgerMetrics = LedgerMetrics(),
        queueLimit: Int = LedgerWriter.queueLimit,
        clock: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.store = store
        self.feed = feed
        self.logger = logger
        self.metrics = metrics
        self.queueLimit = queueLimit
        self.clock = clock
    }

    /// Decides one command and commits its effects.
    ///
    /// Cancelling the caller does not withdraw the command: a queued command is always decided,
    /// because its batch also contains those of others.
    ///
    /// - Throws: `tryAgain` if nothing was committed, `unknownOutcome` if the commit may have
    ///   succeeded.
    package func submit<Command: LedgerCommand>(
        _ command: Command
    ) async throws(LedgerError) -> CommandReply<Command.Outcome> {
        if let spender = command.spender, !budget.hasRoom(for: spender, at: clock()) {
            return CommandReply(.failure(Refusal(.dailyLimit)), requestID: "")
        }
        return try await queue { Pending(command, at: $0, answer: $1) }
    }

    /// Decides and commits a command whose answer is stored.
    package func submit<Command: KeyedCommand>(
        _ command: Command,
        as request: KeyedRequest
    ) async throws(LedgerError) -> CommandReply<Command.Outcome> {
        var request = request
        request.isOverBudget = !budget.hasRoom(for: request.user, at: clock())
        return try await queue { Pending(command, as: request, at: $0, answer: $1) }
    }

    private func queue<Outcome: Sendable>(
        _ make: (Timestamp, @escaping @Sendable (Result<Outcome, LedgerError>) -> Void) ->
            any Submission
    ) async throws(LedgerError) -> Outcome {
        let result: Result<Outcome, LedgerError> = await withCheckedContinuation { caller in
            if let refusal = enqueue({ make($0) { caller.resume(returning: $0) } }) {
                caller.resume(returning: .failure(refusal))
            } else {
                hasWork.yield()
            }
        }
        return try result.get()
    }

    /// The number of commands that wait for the next commit.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Queues a command and sets its time under the lock, so that times follow the queue's order
    /// even after a small correction of the clock.
    ///
    /// - Returns: The error if it is not queued.
    private func enqueue(_ make: (Timestamp) -> any Submission) -> LedgerError? {
        var step: Duration?
        let refusal: LedgerError? = state.withLock { state in
            guard !state.isStopped else {
                return LedgerError(.tryAgain, "The server is stopping.")
            }
            guard state.queue.count < queueLimit else {
                metrics.countQueueFull()
                return LedgerError(.tryAgain, "Too many commands are waiting.")
            }
            step = state.accept(at: clock())
            state.queue.append(make(state.lastAccepted))
            return nil
        }
        if let step {
            logger.warning(
                "The clock was set back: sessions begun meanwhile expire late.",
                metadata: ["seconds": "\(step.components.seconds)"]
            )
        }
        return refusal
    }

    /// Commits batches until shutdown, then the commands still queued.
    package func run() async {
        var tail: Seal?
        await withGracefulShutdownHandler {
            for await _ in work {
                while let batch = nextBatch() { await commit(batch, &tail) }
            }
        } onGracefulShutdown: {
            self.hasWork.finish()
        }
        state.withLock { $0.isStopped = true }
        while let batch = nextBatch() { await commit(batch, &tail) }
    }

    private func nextBatch() -> [any Submission]? {
        state.withLock { state in
            guard !state.queue.isEmpty else { return nil }
            if state.queue.count <= Self.batchLimit {
                defer { state.queue = [] }
                return state.queue
            }
            defer { state.queue.removeFirst(Self.batchLimit) }
            return Array(state.queue.prefix(Self.batchLimit))
        }
    }

    /// - Parameter tail: The last seal of this writer's chain; `nil` after a failure, because the
    ///   batch may have been committed.
    private func commit(_ submissions: [any Submission], _ tail: inout Seal?) async {
        let start = ContinuousClock.now
        do throws(LedgerError) {
            let effects = try await store.commit(Batch(submissions, tail: tail))
            tail = effects.seal ?? tail
            let duration = ContinuousClock.now - start
            feed.publish(effects)
            charge(submissions, for: effects)
            let verdicts = submissions.map { ($0.name, $0.succeed()) }
            metrics.committed(verdicts, effects.events, within: duration)
        } catch {
            tail = nil
            await fail(submissions, with: error, &tail)
        }
    }

    /// Takes a part of a user's daily budget, for rows that others write.
    ///
    /// - Throws: `dailyLimit`.
    func spend(_ bytes: Int, by user: UserID) throws(Refusal) {
        guard budget.spend(bytes, for: user, at: clock()) else { throw Refusal(.dailyLimit) }
    }

    /// Counts the new rows against their users' budgets.
    private func charge(_ submissions: [any Submission], for effects: Effects) {
        let now = clock()
        for (user, bytes) in submissions.compactMap(\.spent) {
            budget.spend(bytes, for: user, at: now)
        }
        for user in effects.paidUsers {
            budget.putBack(DailyBudget.bytesOfPaidRequest, for: user)
        }
        for user in effects.refundingUsers {
            budget.spend(DailyBudget.bytesOfPaidRequest, for: user, at: now)
        }
    }

    /// Handles a failed commit. If the database rejected the rows of one command, each command of
    /// the batch is committed alone: the others must not fail too.
    private func fail(
        _ submissions: [any Submission],
        with error: LedgerError,
        _ tail: inout Seal?
    ) async {
        if error.code == .rejected, submissions.count > 1 {
            for submission in submissions { await commit([submission], &tail) }
            return
        }
        metrics.failed(commands: submissions.count)
        // Rate-limited, because every batch fails while the database is unavailable. Unknown
        // outcomes are always logged.
        logger.log(
            level: error.code == .unknownOutcome ? .warning : failures.level(.warning),
            "A batch was not committed.",
            metadata: ["error": "\(error)", "commands": "\(submissions.count)"]
        )
        let isUnknown = error.code == .unknownOutcome
        let failure = LedgerError(
            isUnknown ? .unknownOutcome : .tryAgain,
            isUnknown
                ? "It is not known whether the ledger was written."
                : "The ledger could not be written.",
            underlying: error
        )
        for submission in submissions { submission.fail(failure) }
    }
}
