internal import GotchuCore
internal import Ledger
internal import Logging
internal import Outbox
internal import ServiceLifecycle
internal import ServiceProcess

/// Delivers the outbox's events. Each event is delivered at least once to each endpoint. An
/// endpoint that is down does not delay others.
///
/// There is no timer between attempts. All attempts that finished during the last commit are
/// recorded together, and their slots are reused at once.
struct WebhookWorker: Service {
    /// The interval at which the outbox is searched for due deliveries.
    private static let defaultInterval: Duration = .milliseconds(500)
    /// The lease of a claimed delivery. When it expires, any server may claim the delivery again.
    private static let lease: Duration = .seconds(60)

    let store: Outbox
    let sender: WebhookSender
    var schedule = WebhookSchedule()
    var interval = WebhookWorker.defaultInterval
    var clock: @Sendable () -> Timestamp = { .now }
    let logger: Logger

    /// Delivers until shutdown. Attempts that a shutdown interrupts are due again when their leases
    /// expire.
    func run() async {
        let finished = FinishedAttempts()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    while !Task.isCancelled {
                        finished.tick()
                        // Polls: deliveries become due by the clock, here and at other servers.
                        try? await Task.sleep(for: interval)
                    }
                }
                var round = Round(logger)
                for await _ in finished.wakeUps {
                    let work = finished.popAll()
                    await finish(work.ended, in: &round)
                    await begin(isTime: work.isTime, at: finished, in: &round, &group)
                }
                group.cancelAll()
            }
        }
        await record(finished.popAll().ended)
    }

    /// The state kept between reads of the outbox.
    private struct Round {
        var slots = DeliverySlots()
        /// Endpoints that may have more due deliveries than were claimed.
        var backlogged: Set<String> = []
        var failures: FailureLog

        init(_ logger: Logger) {
            failures = FailureLog(
                logger,
                failure: "The outbox cannot be read.",
                recovery: "The outbox can be read again."
            )
        }
    }

    private func begin(
        isTime: Bool,
        at finished: FinishedAttempts,
        in round: inout Round,
        _ group: inout DiscardingTaskGroup
    ) async {
        do {
            if isTime {
                try await store.markDead(at: clock())
                round.backlogged = Set(try await store.dueEndpoints(at: clock()))
                round.slots.forget(except: round.backlogged)
            }
            for endpoint in round.backlogged {
                let free = round.slots.free(for: endpoint)
                guard free > 0 else { continue }
                let now = clock()
                let deliveries = try await store.claim(
                    for: endpoint,
                    at: now,
                    until: now.advanced(by: Self.lease),
                    limit: free
                )
                if deliveries.count < free { round.backlogged.remove(endpoint) }
                round.slots.begin(deliveries.count, for: endpoint)
                for delivery in deliveries {
                    group.addTask {
                        if let ended = await deliver(delivery) { finished.put(ended) }
                    }
                }
            }
            if isTime { round.failures.recordSuccess() }
        } catch {
            round.failures.recordFailure(error)
        }
    }

    private func finish(_ attempts: [WebhookDelivery.FinishedAttempt], in round: inout Round) async
    {
        await record(attempts)
        for ended in attempts {
            let isAccepted = ended.outcome == .delivered
            round.slots.end(ended.id.endpoint, isAccepted: isAccepted)
            // An endpoint whose delivery failed is called again after the next interval.
            if !isAccepted { round.backlogged.remove(ended.id.endpoint) }
        }
    }

    /// Records finished attempts. If the recording fails, they are due again when their leases
    /// expire.
    private func record(_ attempts: [WebhookDelivery.FinishedAttempt]) async {
        guard !attempts.isEmpty else { return }
        do {
            try await store.finish(attempts, at: clock())
        } catch {
            logger.info("Delivery outcomes could not be recorded.", metadata: ["error": "\(error)"])
        }
        for ended in attempts {
            switch ended.outcome {
            case .delivered, .failed: break
            case .dead(let reason), .gone(let reason):
                logger.warning(
                    "A webhook delivery was given up.",
                    metadata: ["endpoint": "\(ended.id.endpoint)", "reason": "\(reason)"]
                )
            }
        }
    }

    private func deliver(_ delivery: WebhookDelivery) async -> WebhookDelivery.FinishedAttempt? {
        guard !delivery.isGivenUp else {
            return WebhookDelivery.FinishedAttempt(
                id: delivery.id,
                attempt: delivery.attempt,
                outcome: .dead("The last attempt did not end.")
            )
        }
        let answer = await sender.send(delivery, at: clock())
        // If this server's shutdown caused the failure, the attempt is not recorded: its lease
        // expires.
        if Task.isCancelled, case .refused = answer { return nil }
        return WebhookDelivery.FinishedAttempt(
            id: delivery.id,
            attempt: delivery.attempt,
            outcome: outcome(of: answer, for: delivery, at: clock())
        )
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
            // The last attempt is at the end of the delivery's time, even if the receiver requested
            // a longer wait.
            guard now < delivery.giveUpAt else { return .dead(reason) }
            return .failed(reason, nextTryAt: min(now.advanced(by: wait), delivery.giveUpAt))
        }
    }
}
