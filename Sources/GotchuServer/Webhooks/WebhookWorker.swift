internal import GotchuCore
internal import Ledger
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Takes events out of the outbox and delivers them: each at least once, to each endpoint by
/// itself, so that one that is dead holds up no other.
struct WebhookWorker: Service {
    /// How often it looks for what is due.
    private static let interval: Duration = .milliseconds(500)
    /// How many tries run at once, in all and to one endpoint.
    private static let limit = 32
    private static let limitPerEndpoint = 4
    /// A delivery that is not finished by then is due again, here or at another server.
    private static let lease: Duration = .seconds(60)

    private let store: any WebhookStore
    private let sender: WebhookSender
    private let schedule: WebhookSchedule
    private let logger: Logger
    private let running = Running()

    init(
        store: any WebhookStore,
        sender: WebhookSender,
        schedule: WebhookSchedule = WebhookSchedule(),
        logger: Logger
    ) {
        self.store = store
        self.sender = sender
        self.schedule = schedule
        self.logger = logger
    }

    /// What is under way at a stop is left to its lease.
    func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    await start(in: &group)
                    try? await Task.sleep(for: Self.interval)
                }
                group.cancelAll()
            }
        }
    }

    private func start(in group: inout DiscardingTaskGroup) async {
        do {
            // Not always the same ones first: those that hang must not keep the rest waiting.
            for endpoint in try await store.dueWebhookEndpoints(at: .now).shuffled() {
                let free = running.free(
                    for: endpoint,
                    limit: Self.limitPerEndpoint,
                    total: Self.limit
                )
                guard free > 0 else { continue }
                let now = Timestamp.now
                let deliveries = try await store.claimDeliveries(
                    for: endpoint,
                    at: now,
                    until: now.advanced(by: Self.lease),
                    limit: free
                )
                for delivery in deliveries {
                    running.begin(endpoint)
                    group.addTask {
                        await deliver(delivery)
                        running.end(endpoint)
                    }
                }
            }
        } catch {
            logger.info("The outbox cannot be read.", metadata: ["error": "\(error)"])
        }
    }

    private func deliver(_ delivery: WebhookDelivery) async {
        let answer = await sender.send(delivery, at: .now)
        // A try that our own stop cut short says nothing about the endpoint: its lease will end.
        if Task.isCancelled, case .refused = answer { return }
        let now = Timestamp.now
        let outcome = outcome(of: answer, for: delivery, at: now)
        do {
            try await store.finish(delivery.name, attempt: delivery.attempt, outcome, at: now)
        } catch {
            logger.info("A delivery was not noted.", metadata: ["error": "\(error)"])
        }
        switch outcome {
        case .delivered, .failed: break
        case .dead(let reason), .gone(let reason):
            logger.warning(
                "A webhook was given up.",
                metadata: ["endpoint": "\(delivery.name.endpoint)", "reason": "\(reason)"]
            )
        }
    }

    func outcome(
        of answer: WebhookSender.Answer,
        for delivery: WebhookDelivery,
        at now: Timestamp
    ) -> WebhookDelivery.Outcome {
        switch answer {
        case .accepted: return .delivered
        case .gone: return .gone("HTTP 410: it wants nothing any more.")
        case .refused(let reason, let retryAfter):
            let wait = schedule.delay(
                after: delivery.attempt,
                retryAfter: retryAfter.map { min($0, .seconds(24 * 3_600)) },
                jitter: .random(in: 0..<1)
            )
            let next = now.advanced(by: wait)
            guard next < delivery.giveUpAt else { return .dead(reason) }
            return .failed(reason, nextTryAt: next)
        }
    }

    /// How many tries run, by endpoint.
    private final class Running: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func free(for endpoint: String, limit: Int, total: Int) -> Int {
            counts.withLock { counts in
                let all = counts.values.reduce(0, +)
                return min(limit - counts[endpoint, default: 0], total - all)
            }
        }

        func begin(_ endpoint: String) {
            counts.withLock { $0[endpoint, default: 0] += 1 }
        }

        func end(_ endpoint: String) {
            counts.withLock { counts in
                let left = counts[endpoint, default: 1] - 1
                counts[endpoint] = left > 0 ? left : nil
            }
        }
    }
}
