import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import ServiceLifecycle

/// The payer's side: journals what a person agreed to, then drives it to its definite end.
actor PaymentService: Service, KeyedCreation {
    /// How many payments can be open at once.
    static let openLimit = 16
    /// How many calls besides the first may ask for one open payment.
    static let joinLimit = 16
    /// How many payments are remembered; the oldest ended ones are forgotten.
    static let memoryLimit = 200

    let client: PaymentClient
    let tokens: TokenStore
    let access: AccessTokens
    let logger: Logger
    private let journal: Journal
    private let hub: EventHub
    let presences: PresenceService

    private var records: [String: PaymentRecord] = [:]
    private var doubts: OpenDoubts
    private let onUnresolved: @Sendable (Int) -> Void
    /// Sessions whose payment is being journalled, so that a second press starts no second one.
    private var starting: Set<SessionID> = []
    private var toDrive: [String] = []
    var calls = CallsUnderWay()
    /// Lets one record at a time be written that is there already.
    private var changes = Turnstile()
    private var isStopping = false
    /// Sessions of cancelled payments whose lock may still be on its way or be given back.
    private var closing: [String: SessionID] = [:]
    /// The pauses between two tries.
    private var naps: [String: Task<Void?, Never>] = [:]
    /// When what an open payment pays was first heard near, for the latency of a tap.
    private var nearSince: [String: MonotonicTime] = [:]
    private(set) var counts = Counts()
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// - Parameter onUnresolved: Told how many open payments and refunds a person should know of,
    ///   whenever that may have changed.
    init(
        client: PaymentClient,
        tokens: TokenStore,
        access: AccessTokens,
        presences: PresenceService,
        journal: Journal,
        hub: EventHub,
        logger: Logger,
        onUnresolved: @escaping @Sendable (Int) -> Void
    ) {
        self.client = client
        self.tokens = tokens
        self.access = access
        self.presences = presences
        self.journal = journal
        self.hub = hub
        self.logger = logger
        records = journal.contentsAtStart.payments
        toDrive = records.values.filter(\.isOpen).sorted { $0.createdAt < $1.createdAt }.map(\.id)
        doubts = OpenDoubts(toDrive, at: .now)
        self.onUnresolved = onUnresolved
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        if !toDrive.isEmpty { wake.yield() }
    }

    /// Drives every open payment, those of before the start first.
    ///
    /// A graceful shutdown lets each finish the step that it is in; the next start goes on from
    /// there.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await _ in wakes.cancelOnGracefulShutdown() {
                for id in takeToDrive() {
                    group.addTask {
                        await PaymentDriver(id: id, service: self).run()
                        await self.forgetDriver(of: id)
                    }
                }
            }
            isStopping = true
        }
    }

    /// Whether a payment is open that only somebody else than this user can finish: its wallet must
    /// stay logged in, or must be able to come back. One whose own login the server has refused
    /// keeps nobody else from logging in.
    ///
    /// - Parameter user: `nil` for nobody.
    func hasOpenPayment(notOf user: String?) -> Bool {
        records.values.contains {
            $0.isOpen && $0.payer != user && !doubts.isOwnLoginRefused($0.id)
        }
    }

    static func validate(_ new: NewPayment) throws(Problem) {
        guard Money.allowedRequest.contains(new.confirmAmountCents) else {
            throw Problem(
                .validationError,
                detail: "confirm_amount_cents must be 1 to \(Money.allowedRequest.upperBound)."
            )
        }
        let tips = Money.allowedTip(on: new.confirmAmountCents)
        guard tips.contains(new.tipCents ?? 0) else {
            throw Problem(
                .validationError,
                detail: "tip_cents must be 0 to \(tips.upperBound) with this amount."
            )
        }
    }

    func made(under key: IdempotencyKey) -> (call: IdempotentCall, view: PaymentView)? {
        for record in records.values {
            for call in record.calls where call.key == key { return (call, view(record)) }
        }
        return nil
    }

    /// Pays what a person has agreed to. Returns once the journal has it.
    func make(_ new: NewPayment, call: IdempotentCall?) async throws(Problem) -> PaymentView {
        guard let payer = tokens.identity else { throw .notLoggedIn(tokens) }
        let session = try await agreedSession(new)
        try await checkProximity(new, session.sid)
        let since = new.eid.flatMap { presences.nearSince($0) }
        if let open = openPayment(of: session.sid) {
            guard open.payer == payer else {
                throw Problem(
                    .paymentInProgress,
                    detail: "Somebody else, who was logged in before, is paying this.",
                    fix: "gotchu-ctl history"
                )
            }
            // The same person pressing twice wants one payment.
            guard open.amountCents == session.amountCents, open.tipCents == new.tipCents else {
                throw Problem(
                    .amountChanged,
                    detail: "\(open.amount) is being paid for this already.",
                    fix: "gotchu-ctl history"
                )
            }
            return try await join(open.id, call)
        }
        guard !isStopping else { throw .stopping }
        guard !starting.contains(session.sid), !closing.values.contains(session.sid) else {
            throw Problem(
                .paymentInProgress,
                detail: "A payment of this is being started, or was cancelled a moment ago.",
                fix: "Try again in a few seconds."
            )
        }
        guard records.values.count(where: \.isOpen) + starting.count < Self.openLimit else {
            throw Problem(
                .paymentInProgress,
                detail: "There are already \(Self.openLimit) open payments.",
                fix: "gotchu-ctl history"
            )
        }
        let record = PaymentRecord(
            new: new,
            session: session,
            payer: payer,
            server: client.server.description,
            call: call
        )
        try await start(record, nearSince: since)
        return view(record)
    }

    /// Remembers that another call asked for the same payment: repeated after its end, that one
    /// must not start a second.
    private func join(_ id: String, _ call: IdempotentCall?) async throws(Problem) -> PaymentView {
        guard let call else { return try view(of: id) }
        await enterChange()
        defer { changes.leave() }
        guard var record = records[id] else { return try view(of: id) }
        guard record.joined?.count ?? 0 < Self.joinLimit else {
            throw Problem(
                .paymentInProgress,
                detail: "This payment was asked for \(Self.joinLimit) times already.",
                fix: "gotchu-ctl history"
            )
        }
        record.joined = (record.joined ?? []) + [call]
        do throws(JournalFailure) {
            try await journal.append(.payment(record))
        } catch {
            throw Problem(error)
        }
        records[id]?.joined = record.joined
        return try view(of: id)
    }

    /// Has a payment driven as soon as the journal has it.
    func start(
        _ record: PaymentRecord,
        nearSince since: MonotonicTime? = nil
    ) async throws(Problem) {
        guard !isStopping else { throw .stopping }
        starting.insert(record.sid)
        defer { starting.remove(record.sid) }
        do throws(JournalFailure) {
            try await journal.append(.payment(record))
        } catch {
            throw Problem(error)
        }
        if record.refund == nil {
            counts.payments.started += 1
        } else {
            counts.refunds.started += 1
        }
        nearSince[record.id] = since
        records[record.id] = record
        forgetOldest()
        toDrive.append(record.id)
        wake.yield()
        logger.notice(
            record.refund == nil ? "Payment was started" : "Refund was started",
            metadata: ["payment": "\(record.id)", "amount": "\(record.amount)"]
        )
        hub.publish(.paymentChanged(view(record)))
    }

    /// Whether something about a session is being journalled at this moment.
    func isStarting(_ sid: SessionID) -> Bool { starting.contains(sid) }

    /// The refunds of a session that are remembered, oldest first.
    func refunds(of sid: SessionID) -> [PaymentRecord] {
        records.values.filter { $0.refund != nil && $0.sid == sid }
            .sorted { $0.createdAt < $1.createdAt }
    }

    func view(of id: String) throws(Problem) -> PaymentView {
        guard let record = records[id] else {
            throw Problem(.notFound, detail: "There is no such payment.")
        }
        return view(record)
    }

    /// True if a payee is among those who were paid, as far back as is remembered.
    func hasPaid(_ payeeID: String?) -> Bool {
        payeeID != nil && records.values.contains { $0.stage == .paid && $0.payeeID == payeeID }
    }

    /// All that are remembered, newest first.
    func views() -> [PaymentView] {
        records.values.sorted { $0.createdAt > $1.createdAt }.map(view)
    }

    // What the driver of one payment tells.

    func record(_ id: String) -> PaymentRecord? { records[id] }

    /// Says why the end is not known yet.
    func note(_ id: String, _ doubt: Doubt) {
        guard let record = records[id], record.isOpen else { return }
        let isNews = doubts.note(id, doubt, at: .now)
        tellUnresolved()
        guard isNews else { return }
        if let refusal = doubt.refusal {
            logger.warning(
                "The payment server does not say what became of a payment",
                metadata: ["payment": "\(id)", "code": "\(refusal.code)"]
            )
        }
        hub.publish(.paymentChanged(view(record)))
    }

    /// What was never sent ends by itself with its session.
    private func tellUnresolved() {
        let unresolved = doubts.unresolved(at: .now)
        onUnresolved(records.values.count { $0.stage == .sending && unresolved.contains($0.id) })
    }

    /// Waits between two tries, for at most `duration`: the payment's cancellation ends it.
    func pause(_ id: String, for duration: Duration) async {
        guard records[id]?.isOpen == true else { return }
        // SAFETY: ends with its caller, which waits for it. The wait is `PaymentFlow`'s backoff.
        let nap = Task { try? await Task.sleep(for: duration) }
        naps[id] = nap
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        naps[id] = nil
    }

    /// Ends a payment of which nothing was sent. Again is no error.
    ///
    /// - Throws: `NOT_FOUND`, or `PAYMENT_IN_PROGRESS` where a send may have left: then only the
    ///   server can say how it ends.
    func cancel(_ id: String) async throws(Problem) -> PaymentView {
        await enterChange()
        defer { changes.leave() }
        guard var record = records[id] else {
            throw Problem(.notFound, detail: "There is no such payment.")
        }
        guard record.isOpen else { return view(record) }
        guard record.stage == .locking, record.refund == nil else {
            throw Problem(
                .paymentInProgress,
                detail: "It may have been sent already, and ends as the payment server says.",
                fix: "gotchu-ctl history"
            )
        }
        record.end(.declined(.cancelled))
        record.updatedAt = .now
        do throws(JournalFailure) {
            try await journal.append(.payment(record))
        } catch {
            throw Problem(error)
        }
        closing[id] = record.sid
        publish(record)
        naps[id]?.cancel()
        return view(record)
    }

    /// Lets the session of a cancelled payment be paid again.
    private func forgetDriver(of id: String) { closing[id] = nil }

    /// Writes how far an open payment has come, and says so once it is on the disk.
    func advance(_ id: String, _ change: @Sendable (inout PaymentRecord) -> Void)
        async throws(JournalFailure)
    {
        await enterChange()
        defer { changes.leave() }
        guard var record = records[id], record.isOpen else { return }
        change(&record)
        record.updatedAt = .now
        try await journal.append(.payment(record))
        publish(record)
    }

    /// Says how a payment ended, whether or not the journal could keep it.
    func finish(_ id: String, _ end: PaymentEnd) {
        guard var record = records[id], record.isOpen else { return }
        record.end(end)
        publish(record)
    }

    /// One after the other: each writes the whole record, and must not undo another's change.
    private func enterChange() async {
        if changes.enter() { return }
        await withCheckedContinuation { changes.wait($0) }
    }

    private func publish(_ record: PaymentRecord) {
        if !record.isOpen {
            doubts.remove(record.id)
            if record.stage == .paid, record.refund == nil { presences.end(record.sid) }
            if records[record.id]?.isOpen == true {
                count(record)
                logger.notice(
                    record.refund == nil ? "Payment has ended" : "Refund has ended",
                    metadata: ["payment": "\(record.id)", "state": "\(record.stage.rawValue)"]
                )
            }
        }
        // An end is told as soon as it is on the disk, and again where the disk did not take it.
        let isNews = records[record.id] != record
        records[record.id] = record
        tellUnresolved()
        if isNews { hub.publish(.paymentChanged(view(record))) }
    }

    private func count(_ ended: PaymentRecord) {
        guard ended.refund == nil else { return counts.refunds.count(ended) }
        counts.payments.count(ended)
        let since = nearSince.removeValue(forKey: ended.id)
        if ended.stage == .paid, let since {
            counts.tapLatency.observe(MonotonicTime.now - since)
        }
    }

    private func takeToDrive() -> [String] {
        defer { toDrive = [] }
        return toDrive
    }

    private func forgetOldest() {
        let ended = records.values.filter { !$0.isOpen }.sorted { $0.createdAt < $1.createdAt }
        for record in ended.prefix(max(0, records.count - Self.memoryLimit)) {
            records[record.id] = nil
        }
    }

    private func openPayment(of sid: SessionID) -> PaymentRecord? {
        records.values.first { $0.isOpen && $0.sid == sid && $0.refund == nil }
    }

    func view(_ record: PaymentRecord) -> PaymentView {
        PaymentView(record, doubt: doubts[record.id])
    }
}
