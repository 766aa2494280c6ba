import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import ServiceLifecycle

/// Journals the withdrawals that a person ordered, then drives each until the server has it or has
/// refused it.
actor WithdrawalService: Service {
    /// The number of withdrawals that can be open at once.
    static let openLimit = 16
    /// The number that is remembered; the oldest ended ones are forgotten.
    static let memoryLimit = 200

    private let core: DaemonCore
    private let clock: any Clock<Duration>
    private var records: [String: WithdrawalRecord]
    private var reasons: [String: UnresolvedReason] = [:]
    private var starting = 0
    private var isStopping = false
    private var toDrive: [(id: String, isResumed: Bool)]
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// - Parameter clock: The clock of the waits between two tries.
    init(_ core: DaemonCore, clock: any Clock<Duration> = ContinuousClock()) {
        self.core = core
        self.clock = clock
        records = core.journal.contentsAtStart.withdrawals
        toDrive = records.values.filter { $0.end == nil }.sorted { $0.createdAt < $1.createdAt }
            .map { ($0.id, isResumed: true) }
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        if !toDrive.isEmpty { wake.yield() }
    }

    /// Drives every open withdrawal, those of before the start first.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await _ in wakes.cancelOnGracefulShutdown() {
                for next in toDrive {
                    group.addTask { await self.drive(next.id, isUncertain: next.isResumed) }
                }
                toDrive = []
            }
            isStopping = true
        }
    }

    /// True if something is open that only somebody else than this user can finish.
    func hasOpenRecord(notOf user: String?) -> Bool {
        starting > 0 || records.values.contains { $0.end == nil && $0.user != user }
    }

    /// Orders a withdrawal. Returns once the journal has it.
    ///
    /// - Parameter call: The key of a call that may be repeated.
    func create(
        _ new: NewWithdrawal,
        key call: IdempotencyKey?
    ) async throws(Problem) -> Created<WithdrawalView> {
        guard let user = core.tokens.identity else { throw .notLoggedIn(core.tokens) }
        if let call, let known = records.values.first(where: { $0.call == call }) {
            guard known.amountCents == new.amountCents else {
                throw Problem(
                    .idempotencyKeyReused,
                    detail: "The idempotency key was used for another withdrawal."
                )
            }
            return Created(view(known), isReplay: true)
        }
        guard !isStopping else { throw .stopping }
        guard records.values.count(where: { $0.end == nil }) + starting < Self.openLimit else {
            throw Problem(
                .paymentInProgress,
                detail: "There are already \(Self.openLimit) open withdrawals.",
                fix: "gotchu-ctl payouts"
            )
        }
        let record = WithdrawalRecord(
            new,
            user: user,
            server: core.client.server.description,
            call: call
        )
        starting += 1
        defer { starting -= 1 }
        do throws(JournalFailure) {
            try await core.journal.append(.withdrawal(record))
        } catch {
            throw Problem(error)
        }
        records[record.id] = record
        forgetOldest()
        toDrive.append((record.id, isResumed: false))
        wake.yield()
        core.logger.notice("Withdrawal was started", metadata: ["withdrawal": "\(record.id)"])
        return Created(view(record), isReplay: false)
    }

    func view(of id: String) throws(Problem) -> WithdrawalView {
        guard let record = records[id] else {
            throw Problem(.notFound, detail: "There is no such withdrawal.")
        }
        return view(record)
    }

    private func view(_ record: WithdrawalRecord) -> WithdrawalView {
        record.view(reasons[record.id])
    }

    /// Asks the server until it has answered definitely, always with the same key and bytes.
    ///
    /// - Parameter isUncertain: True if an earlier order may have arrived.
    func drive(_ id: String, isUncertain: Bool) async {
        var flow = OrderFlow(isUncertain: isUncertain)
        while let record = records[id], record.end == nil, !isStopping {
            switch flow.handle(await ask(record), jitter: .random(in: 0..<1)) {
            case .end(let end):
                if await journal(end, of: record) { return }
                reasons[id] = .journal
                await wait(for: RetrySchedule.firstDelay)
            case .wait(let duration, let reason):
                reasons[id] = reason
                await wait(for: duration)
            }
        }
    }

    private func ask(_ record: WithdrawalRecord) async -> OrderFlow.Answered {
        guard core.client.server.description == record.server else {
            return .answer(.notAsked(.otherServer))
        }
        let client = core.client.using(core.access.only(of: record.user))
        let answer = await client.withdraw(body: Array(record.body.utf8), key: record.key)
        if case .success(let reply) = answer { return .ordered(reply) }
        return .answer(answer.paymentAnswer { _ in Receipt() })
    }

    /// - Returns: True once the journal has it.
    private func journal(_ end: WithdrawalRecord.End, of record: WithdrawalRecord) async -> Bool {
        var record = record
        record.end = end
        do throws(JournalFailure) {
            try await core.journal.append(.withdrawal(record))
        } catch {
            return false
        }
        records[record.id] = record
        reasons[record.id] = nil
        core.logger.notice("Withdrawal has ended", metadata: ["withdrawal": "\(record.id)"])
        return true
    }

    private func wait(for duration: Duration) async {
        await cancelWhenGracefulShutdown { [clock] in _ = try? await clock.sleep(for: duration) }
        if Task.isShuttingDownGracefully { isStopping = true }
    }

    private func forgetOldest() {
        let ended = records.values.filter { $0.end != nil }.sorted { $0.createdAt < $1.createdAt }
        for record in ended.prefix(max(0, records.count - Self.memoryLimit)) {
            records[record.id] = nil
        }
    }
}

/// The decisions about one order: only a definite answer to its key ends it.
struct OrderFlow {
    enum Answered {
        case ordered(WithdrawalReply)
        case answer(PaymentAnswer)
    }

    enum Action {
        case end(WithdrawalRecord.End)
        case wait(Duration, because: UnresolvedReason)
    }

    private var isUncertain: Bool
    private var schedule = RetrySchedule()

    init(isUncertain: Bool) {
        self.isUncertain = isUncertain
    }

    mutating func handle(_ answered: Answered, jitter: Double) -> Action {
        switch answered {
        case .ordered(let reply): .end(.ordered(reply))
        case .answer(let answer): handle(answer, jitter)
        }
    }

    private mutating func handle(_ answer: PaymentAnswer, _ jitter: Double) -> Action {
        switch answer {
        case .done: wait(because: .noAnswer, nil, jitter)
        case .refused(let refusal, let isReplay):
            isReplay || !isUncertain
                ? .end(.declined(refusal)) : wait(because: .refused(refusal), nil, jitter)
        case .unauthorized(let refusal):
            isUncertain
                ? wait(because: .unauthorized(refusal), nil, jitter) : .end(.declined(refusal))
        case .unknown(let retryAfter):
            uncertain(retryAfter, jitter)
        case .notAsked(let reason): wait(because: reason, nil, jitter)
        }
    }

    private mutating func uncertain(_ retryAfter: Duration?, _ jitter: Double) -> Action {
        isUncertain = true
        return wait(because: .noAnswer, retryAfter, jitter)
    }

    private mutating func wait(
        because reason: UnresolvedReason,
        _ retryAfter: Duration?,
        _ jitter: Double
    ) -> Action {
        .wait(schedule.next(retryAfter: retryAfter, jitter: jitter), because: reason)
    }
}
