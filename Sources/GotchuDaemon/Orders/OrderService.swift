import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import ServiceLifecycle

/// Journals the orders of one kind. Then sends each order until the server has carried it out or
/// refused it.
actor OrderService<Order: OrderRecord>: Service, IdempotentCreation {
    /// The maximum number of open orders.
    private static var openLimit: Int { 16 }
    /// The maximum number of records in memory; the oldest ended ones are evicted.
    private static var memoryLimit: Int { 200 }

    private let core: DaemonCore
    private let clock: any Clock<Duration>
    private var records = RecordTable<String, Order>()
    private var reasons: [String: UnresolvedReason] = [:]
    /// The orders whose record may be missing in the journal. They are journalled before they are
    /// sent.
    private var unjournalled: Set<String> = []
    /// The callers that wait for the end of an order.
    private(set) var waiting: [String: [Int: AsyncStream<Order.Reply>.Continuation]] = [:]
    private var waiterCount = 0
    var inFlight: [IdempotencyKey: InFlightCall] = [:]
    private var starting = 0
    private var isStopping = false
    private var driveQueue: [(id: String, isResumed: Bool)]
    private let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameter clock: The clock of the waits between two attempts.
    init(_ core: DaemonCore, clock: any Clock<Duration> = ContinuousClock()) {
        self.core = core
        self.clock = clock
        for record in core.journal.contentsAtStart.records.compactMap(Order.init) {
            records[record.id] = record
        }
        driveQueue = records.values.filter(\.isOpen).map { ($0.id, isResumed: true) }
        if !driveQueue.isEmpty { wake.yield() }
    }

    /// Drives every open order. The orders from before the start come first.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await _ in wakes.cancelOnGracefulShutdown() {
                for next in driveQueue {
                    group.addTask { await self.drive(next.id, isUncertain: next.isResumed) }
                }
                driveQueue = []
            }
            isStopping = true
        }
    }

    /// Returns true if an open order belongs to another user, or if an order is being started.
    ///
    /// - Parameter user: The next user; `nil` for none.
    func hasOpenRecord(notOf user: String?) -> Bool {
        starting > 0 || records.values.contains { $0.isOpen && $0.user != user }
    }

    static func validate(_ new: Order.New) throws(Problem) {}

    func created(under key: IdempotencyKey) -> (call: IdempotentCall, view: Order.View)? {
        for record in records.values where record.user == core.tokens.identity {
            if let call = record.call, call.key == key { return (call, view(record)) }
        }
        return nil
    }

    func make(_ new: Order.New, call: IdempotentCall?) async throws(Problem) -> Order.View {
        guard let user = core.tokens.identity else { throw .notLoggedIn(core.tokens) }
        guard !isStopping else { throw .stopping }
        guard records.values.count(where: \.isOpen) + starting < Self.openLimit else {
            throw Problem(
                .paymentInProgress,
                detail:
                    "There are already \(Self.openLimit) of this kind (\(Order.kindName)) open.",
                fix: Order.nextStep
            )
        }
        let record = Order(new, user: user, server: core.client.server.description, call: call)
        starting += 1
        defer { starting -= 1 }
        do throws(JournalFailure) {
            try await core.journal.append(record.line)
        } catch {
            // The next start may find the record and send it, so it is listed and sent now too.
            if case .uncertain = error {
                unjournalled.insert(record.id)
                reasons[record.id] = .journal
                schedule(record)
            }
            throw Problem(error)
        }
        schedule(record)
        core.logger.notice("An order was started", metadata: [Order.kindName: "\(record.id)"])
        return view(record)
    }

    private func schedule(_ record: Order) {
        records[record.id] = record
        records.evict(beyond: Self.memoryLimit) { !$0.isOpen }
        driveQueue.append((record.id, isResumed: false))
        wake.yield()
    }

    func view(of id: String) throws(Problem) -> Order.View {
        guard let record = records[id] else {
            throw Problem(.notFound, detail: "There is no such \(Order.kindName).")
        }
        return view(record)
    }

    /// Waits for the end of an order, at most for `limit`.
    ///
    /// - Returns: The order in its current state, and the server's reply if it arrived during the
    ///   wait.
    func end(
        of id: String,
        within limit: Duration
    ) async throws(Problem) -> (view: Order.View, reply: Order.Reply?) {
        var reply: Order.Reply?
        if let record = records[id], record.isOpen, !isStopping {
            let (ends, end) = AsyncStream.makeStream(of: Order.Reply.self)
            waiterCount += 1
            let waiter = waiterCount
            waiting[id, default: [:]][waiter] = end
            reply = try? await cancelWhenGracefulShutdown {
                try await withTimeout(limit) { await ends.first { _ in true } }
            }
            waiting[id]?[waiter] = nil
        }
        return (try view(of: id), reply)
    }

    private func view(_ record: Order) -> Order.View {
        record.view(reasons[record.id])
    }

    /// Sends an order until the server gives a definite answer. All sends have the same key and
    /// bytes.
    ///
    /// - Parameter isUncertain: True if an earlier send may have arrived.
    func drive(_ id: String, isUncertain: Bool) async {
        while unjournalled.contains(id), let record = records[id], !isStopping {
            if (try? await core.journal.append(record.line)) != nil {
                unjournalled.remove(id)
                reasons[id] = nil
            } else {
                await wait(for: RetrySchedule.firstDelay)
            }
        }
        var flow = OrderFlow<Order>(isUncertain: isUncertain)
        while let record = records[id], record.isOpen, !isStopping {
            switch flow.handle(await send(record), jitter: .random(in: 0..<1)) {
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

    private func send(_ record: Order) async -> OrderFlow<Order>.SendOutcome {
        guard let client = core.client(for: record) else { return .notSent(.otherServer) }
        return .answer(await record.send(with: client))
    }

    /// - Returns: True if the end was journalled.
    private func journal(_ end: Result<Order.Reply, Problem>, of record: Order) async -> Bool {
        let record = record.ended(by: end)
        do throws(JournalFailure) {
            try await core.journal.append(record.line)
        } catch {
            return false
        }
        records[record.id] = record
        reasons[record.id] = nil
        for waiter in (waiting.removeValue(forKey: record.id) ?? [:]).values {
            if case .success(let reply) = end { waiter.yield(reply) }
            waiter.finish()
        }
        core.logger.notice("An order has ended", metadata: [Order.kindName: "\(record.id)"])
        return true
    }

    private func wait(for duration: Duration) async {
        await cancelWhenGracefulShutdown { [clock] in _ = try? await clock.sleep(for: duration) }
        if Task.isShuttingDownGracefully { isStopping = true }
    }
}
