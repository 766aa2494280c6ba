internal import Ledger
internal import Outbox
internal import Synchronization

/// A queue of finished delivery attempts that are not recorded yet. Each one wakes the worker.
final class FinishedAttempts: Sendable {
    struct Work {
        /// The finished attempts. There are at most as many as slots.
        var ended: [WebhookDelivery.FinishedAttempt] = []
        /// A Boolean that is true if the outbox must be searched for due deliveries.
        var isTime = false
    }

    let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let work = Mutex(Work())

    init() {
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func put(_ ended: WebhookDelivery.FinishedAttempt) {
        work.withLock { $0.ended.append(ended) }
        wakeUp.yield()
    }

    func tick() {
        work.withLock { $0.isTime = true }
        wakeUp.yield()
    }

    func popAll() -> Work {
        work.withLock { work in
            defer { work = Work() }
            return work
        }
    }
}
