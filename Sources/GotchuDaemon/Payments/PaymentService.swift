import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import ServiceLifecycle

/// Journals the payments and refunds that the user agreed to. Drives each to a definite end.
actor PaymentService: Service {
    /// The maximum number of open payments and refunds.
    static let openLimit = 16
    /// The maximum number of records in memory; the oldest ended ones are evicted.
    static let memoryLimit = 200

    let core: DaemonCore
    let proximity: any SessionProximity
    let sessions: SessionResolver
    private let clock: any Clock<Duration>

    var inFlight: [IdempotencyKey: InFlightCall] = [:]
    /// The lock for writes of existing records. Each write is of the whole record, so simultaneous
    /// writes could undo each other's changes.
    let changes = AsyncLock()
    /// The sessions whose payment or refund is being journalled. A second press must not start
    /// another one.
    private(set) var starting: Set<SessionID> = []
    /// The sessions of cancelled payments whose lock may still be requested or released, by
    /// payment.
    var unlocking: [String: SessionID] = [:]
    private(set) var isStopping = false
    private(set) var counts = Counts()

    private var records = RecordTable<String, any MoneyRecord>()
    /// The records that the start found only begun. They were never sent, and end as not started.
    private let foundBegun: Set<String>
    private var unresolved: UnresolvedPayments
    private var driveQueue: [(id: String, isResumed: Bool)]
    /// The waits between two attempts, by record.
    private var waits: [String: Task<Void, Never>] = [:]
    /// The time at which each open payment's session was first heard at a near level, by payment.
    private var nearSince: [String: MonotonicTime] = [:]
    private let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameter clock: The clock of the waits between two attempts.
    init(
        _ core: DaemonCore,
        proximity: any SessionProximity,
        sessions: SessionResolver,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.core = core
        self.proximity = proximity
        self.sessions = sessions
        self.clock = clock
        var begun: Set<String> = []
        for record in core.journal.contentsAtStart.records {
            switch record {
            case .payment(let payment):
                records[payment.id] = payment
                if case .begun = payment.stage { begun.insert(payment.id) }
            case .refund(let refund):
                records[refund.id] = refund
                if case .begun = refund.stage { begun.insert(refund.id) }
            case .request, .withdrawal, .contestEntry: break
            }
        }
        foundBegun = begun
        let open = records.values.filter(\.isOpen)
        driveQueue = open.map { ($0.id, isResumed: true) }
        unresolved = UnresolvedPayments(open.map(\.id), at: .now)
        if !driveQueue.isEmpty { wake.yield() }
    }

    /// Drives every open record. The records from before the start come first.
    ///
    /// A graceful shutdown lets each record finish its current step. The next start continues after
    /// that step.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await _ in wakes.cancelOnGracefulShutdown() {
                for next in driveQueue {
                    group.addTask { await self.drive(next.id, isResumed: next.isResumed) }
                }
                driveQueue = []
            }
            isStopping = true
        }
    }

    var payments: [PaymentRecord] { records.values.compactMap { $0 as? PaymentRecord } }
    var refunds: [RefundRecord] { records.values.compactMap { $0 as? RefundRecord } }

    func record(_ id: String) -> (any MoneyRecord)? { records[id] }

    /// Returns true for a record that was not started, also before the journal says so. No call
    /// joins it: its caller repeats the call to start it anew.
    func isNotStarted(_ record: any MoneyRecord) -> Bool {
        record.refusal == .notStarted || foundBegun.contains(record.id)
    }

    /// All records in memory, newest first.
    func views() -> [PaymentView] {
        records.values.reversed().map { view($0) }
    }

    func view(of id: String) throws(Problem) -> PaymentView {
        guard let record = records[id] else { throw .noSuchPayment }
        return view(record)
    }

    func view(_ record: any MoneyRecord) -> PaymentView { record.view(unresolved[record.id]) }

    /// Returns true if an open record belongs to another user, or if a record is being started.
    /// That other user must stay logged in, or be able to log in again. If the server has refused
    /// that user's own login, the record does not block another login.
    ///
    /// - Parameter user: The next user; `nil` for none.
    func hasOpenRecord(notOf user: String?) -> Bool {
        if !starting.isEmpty { return true }
        return records.values.contains {
            $0.isOpen && $0.user != user && !unresolved.isOwnLoginRefused($0.id)
        }
    }

    /// Journals a new record and schedules it. Returns once the record is on disk.
    ///
    /// - Throws: `OUTCOME_UNKNOWN` if the record may be on disk although its write failed. It then
    ///   stays open until the journal has recorded that it was not started.
    func start<Record: MoneyRecord>(
        _ record: Record,
        nearSince since: MonotonicTime? = nil
    ) async throws(Problem) {
        guard !isStopping else { throw .stopping }
        guard records.values.count(where: \.isOpen) + starting.count < Self.openLimit else {
            throw Problem(
                .paymentInProgress,
                detail: "There are already \(Self.openLimit) open payments.",
                fix: "gotchu-ctl history"
            )
        }
        starting.insert(record.sid)
        defer { starting.remove(record.sid) }
        do throws(JournalFailure) {
            try await core.journal.append(record.line)
        } catch {
            if case .uncertain = error {
                schedule(record, isResumed: true)
                report(.journal, of: record.id)
            }
            throw Problem(error)
        }
        var record = record
        if let progress = record.stage.progress {
            var open = record
            open.stage = .open(progress)
            // The caller is told that it was started, also if this fails: `drive` repeats it, and
            // sends nothing before that.
            if (try? await core.journal.append(open.line)) != nil { record = open }
        }
        nearSince[record.id] = since
        schedule(record, isResumed: false)
        core.logger.notice(
            record is RefundRecord ? "Refund was started" : "Payment was started",
            metadata: ["payment": "\(record.id)", "amount": "\(record.amount)"]
        )
        core.hub.publish(.paymentChanged(view(record)))
    }

    /// Adds a new record and lets it be driven.
    ///
    /// - Parameter isResumed: True if it is treated like a record that a start finds.
    private func schedule(_ record: any MoneyRecord, isResumed: Bool) {
        counts.began(record)
        records[record.id] = record
        records.evict(beyond: Self.memoryLimit) { !$0.isOpen }
        driveQueue.append((record.id, isResumed: isResumed))
        wake.yield()
    }

    /// Replaces a record. If its view has changed, publishes it.
    func update(_ record: any MoneyRecord) {
        let before = records[record.id]
        records[record.id] = record
        if !record.isOpen, before?.isOpen == true { ended(record) }
        reportUnresolved()
        if before?.view(nil) != record.view(nil) {
            core.hub.publish(.paymentChanged(view(record)))
        }
    }

    private func ended(_ record: any MoneyRecord) {
        unresolved.remove(record.id)
        let since = nearSince.removeValue(forKey: record.id)
        counts.ended(record, nearSince: since)
        if record is PaymentRecord, record.receipt != nil { proximity.end(record.sid) }
        core.logger.notice(
            record is RefundRecord ? "Refund has ended" : "Payment has ended",
            metadata: [
                "payment": "\(record.id)",
                "state": "\(record.receipt == nil ? "declined" : "paid")",
            ]
        )
    }

    /// Records the reason why an outcome is not known yet. If the reason is new, publishes it.
    func report(_ reason: UnresolvedReason, of id: String) {
        guard let record = records[id], record.isOpen else { return }
        let isNew = unresolved.record(id, reason, at: .now)
        reportUnresolved()
        guard isNew else { return }
        if let refusal = reason.refusal {
            core.logger.warning(
                "The payment server does not say what became of a payment",
                metadata: ["payment": "\(id)", "code": "\(refusal.code)"]
            )
        }
        core.hub.publish(.paymentChanged(view(record)))
    }

    /// Reports to the status the number of unresolved records that may have been sent. A record
    /// that was never sent does not count: it ends with its session.
    private func reportUnresolved() {
        let now = MonotonicTime.now
        core.status.apply(
            unresolvedPayments: records.values.count {
                $0.isOpen && $0.mayBeSent && unresolved.isUnresolved($0.id, at: now)
            }
        )
    }

    /// A stopwatch that starts when this is read.
    var elapsed: @Sendable () -> Duration {
        func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        return stopwatch(clock)
    }

    /// Waits between two attempts. The payment's cancellation or the daemon's stop ends the wait.
    func wait(_ id: String, for duration: Duration) async {
        // SAFETY: ends with its caller, which waits for it. The wait is the flow's backoff.
        let wait = Task { [clock] in _ = try? await clock.sleep(for: duration) }
        waits[id] = wait
        // No event reports that a server is available again.
        await cancelWhenGracefulShutdown {
            await withTaskCancellationHandler {
                await wait.value
            } onCancel: {
                wait.cancel()
            }
        }
        waits[id] = nil
    }

    func endWait(of id: String) { waits[id]?.cancel() }
}

extension Problem {
    static let noSuchPayment = Problem(.notFound, detail: "There is no such payment.")
}
