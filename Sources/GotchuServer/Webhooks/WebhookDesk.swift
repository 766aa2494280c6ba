internal import Ledger
internal import Outbox
internal import Synchronization

/// Where tries that are over are left until they are written down, and the bell that tells of them.
final class WebhookDesk: Sendable {
    struct Work {
        /// At most as many as there are places.
        var ended: [WebhookDelivery.Ended] = []
        /// Whether it is time to look for what has become due by itself.
        var isTime = false
    }

    let rings: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    private let work = Mutex(Work())

    init() {
        (rings, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func put(_ ended: WebhookDelivery.Ended) {
        work.withLock { $0.ended.append(ended) }
        bell.yield()
    }

    func tick() {
        work.withLock { $0.isTime = true }
        bell.yield()
    }

    func take() -> Work {
        work.withLock { work in
            defer { work = Work() }
            return work
        }
    }
}
