package import GotchuCore
package import Logging
internal import ServiceLifecycle
internal import ServiceProcess
internal import Synchronization

/// The one writer: takes whatever queued while the last batch was committed, decides it in order,
/// commits once and answers each caller.
///
/// There is no timer: a lone command goes at once, and batches grow by themselves under load.
package final class LedgerWriter: Service {
    /// How many commands one commit carries at most.
    package static let batchLimit = 256
    /// How many commands may wait unless said otherwise; beyond it callers are told to try again.
    package static let queueLimit = 8_192
    /// When the clock is set back, time stands still for so long at most: otherwise a clock that
    /// was two hours ahead for a moment would keep sessions alive for two hours.
    package static let longestStandstill: Duration = .seconds(2)

    package typealias Outcome = Result<Answer, LedgerError>

    private struct Pending: Sendable {
        let command: Command
        let answer: @Sendable (Outcome) -> Void
    }

    private struct State {
        var queue: [Pending] = []
        var isStopped = false
        var lastAccepted = Timestamp(milliseconds: .min)

        /// Takes the time of the next command.
        ///
        /// - Returns: By how much time goes back, if it does.
        mutating func accept(at now: Timestamp) -> Duration? {
            guard now < lastAccepted else {
                lastAccepted = now
                return nil
            }
            let step = now.duration(to: lastAccepted)
            guard step > LedgerWriter.longestStandstill else { return nil }
            lastAccepted = now
            return step
        }
    }

    private let store: any LedgerStore
    private let feed: SessionFeed
    private let metrics: LedgerMetrics
    private let queueLimit: Int
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let failures = LogThrottle()
    private let state = Mutex(State())
    private let (work, hasWork) = AsyncStream.makeStream(
        of: Void.self,
        bufferingPolicy: .bufferingNewest(1)
    )

    package init(
        store: any LedgerStore,
        feed: SessionFeed,
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

    /// Has one command decided and its effects committed.
    ///
    /// Cancelling the caller does not take the command back: what is queued is decided, since its
    /// batch is other people's too.
    ///
    /// - Throws: `tryAgain` if nothing was decided.
    package func submit(_ action: Command.Action) async throws(LedgerError) -> Answer {
        let outcome: Outcome = await withCheckedContinuation { caller in
            submit(action) { caller.resume(returning: $0) }
        }
        return try outcome.get()
    }

    /// The same for a caller who is no task and cannot wait.
    ///
    /// - Parameter answer: Called once, by the writer or at once: it must not block.
    package func submit(_ action: Command.Action, answer: @escaping @Sendable (Outcome) -> Void) {
        if let refusal = enqueue(action, answer) {
            answer(.failure(refusal))
        } else {
            hasWork.yield()
        }
    }

    /// How many commands wait for the next commit.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Stamps the command within the lock, so that the queue's order and the times agree: a clock
    /// that is corrected by a little must not let an earlier command look later.
    private func enqueue(
        _ action: Command.Action,
        _ answer: @escaping @Sendable (Outcome) -> Void
    ) -> LedgerError? {
        var step: Duration?
        let refusal: LedgerError? = state.withLock { state in
            guard !state.isStopped else {
                return LedgerError(.tryAgain, "The server is stopping.")
            }
            guard state.queue.count < queueLimit else {
                metrics.turnedAway()
                return LedgerError(.tryAgain, "Too many commands are waiting.")
            }
            step = state.accept(at: clock())
            let command = Command(acceptedAt: state.lastAccepted, action: action)
            state.queue.append(Pending(command: command, answer: answer))
            return nil
        }
        if let step {
            logger.warning(
                "The clock was set back: what was begun meanwhile runs out late.",
                metadata: ["seconds": "\(step.components.seconds)"]
            )
        }
        return refusal
    }

    /// Commits batches until shutdown, then what is still queued.
    package func run() async {
        await withGracefulShutdownHandler {
            for await _ in work {
                while let batch = nextBatch() { await commit(batch) }
            }
        } onGracefulShutdown: {
            self.hasWork.finish()
        }
        state.withLock { $0.isStopped = true }
        while let batch = nextBatch() { await commit(batch) }
    }

    private func nextBatch() -> [Pending]? {
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

    private func commit(_ batch: [Pending]) async {
        let commands = batch.map(\.command)
        let start = ContinuousClock.now
        do throws(LedgerError) {
            let decision = try await store.commit(touching: Footprint(commands)) { snapshot in
                apply(commands, to: snapshot)
            }
            metrics.committed(commands, decision, within: ContinuousClock.now - start)
            feed.publish(decision.effects.sessions)
            for (pending, answer) in zip(batch, decision.answers) {
                pending.answer(answer == .held ? .failure(.held) : .success(answer))
            }
        } catch {
            await fail(batch, with: error)
        }
    }

    /// Nothing is known to be committed. If the store objected to what one command does, that must
    /// not fail its neighbours: each is then tried alone.
    private func fail(_ batch: [Pending], with error: LedgerError) async {
        if error.code == .rejected, batch.count > 1 {
            for pending in batch { await commit([pending]) }
            return
        }
        metrics.failed(commands: batch.count)
        // While the database is away that is each of them; what is unknown is never left out.
        logger.log(
            level: error.code == .unknownOutcome ? .info : failures.level(.info),
            "A batch was not committed.",
            metadata: ["error": "\(error)", "commands": "\(batch.count)"]
        )
        for pending in batch {
            let isUnknown = error.code == .unknownOutcome
            let answer = LedgerError(
                isUnknown ? .unknownOutcome : .tryAgain,
                isUnknown
                    ? "It is not known whether the books were written."
                    : "The books could not be written.",
                underlying: error
            )
            pending.answer(.failure(answer))
        }
    }
}

extension LedgerError {
    fileprivate static let held = LedgerError(
        .tryAgain,
        "Another transaction holds the rows of this wallet or session."
    )
}
