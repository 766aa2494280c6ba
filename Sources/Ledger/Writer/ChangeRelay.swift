internal import GotchuCore
internal import Logging
internal import ServiceLifecycle

/// A service that passes changes made by other servers to this server's watchers.
struct ChangeRelay: Service {
    /// The delay before a failed read is retried.
    private static let pause: Duration = .milliseconds(500)

    private let mailbox: ChangeMailbox
    private let reads: DurableReads
    private let feed: ChangeFeed
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    init(
        _ mailbox: ChangeMailbox,
        reads: DurableReads,
        feed: ChangeFeed,
        now: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.mailbox = mailbox
        self.reads = reads
        self.feed = feed
        self.now = now
        self.logger = logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            for await _ in mailbox.arrivals() {
                let changes = mailbox.popAll()
                await repeatNoticed(changes.noticed)
                await relay(feed.watched(of: changes))
            }
        }
    }

    private func repeatNoticed(_ noticed: Set<RecordID>) async {
        for id in noticed where feed.isWatched(id) {
            // A lost notice only means that a screen is not updated.
            guard let record = try? await reads.record(id) else { continue }
            feed.notice(record, at: now())
        }
    }

    private func relay(_ changes: Changes) async {
        var left = changes
        do throws(LedgerError) {
            for id in changes.records {
                if let record = try await reads.record(id) { feed.publish(record) }
                left.records.remove(id)
            }
            for account in changes.accounts {
                if let newest = try await reads.history(of: account, .newest) {
                    feed.publish(newest)
                }
                left.accounts.remove(account)
            }
        } catch {
            logger.info("A change cannot be read.", metadata: ["error": "\(error)"])
            try? await Task.sleep(for: Self.pause)
            mailbox.put(left)
        }
    }
}
