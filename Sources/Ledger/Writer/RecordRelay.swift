internal import Logging
internal import ServiceLifecycle

/// Passes changes made by other servers to this server's watchers.
struct RecordRelay: Service {
    /// The pause before a record that could not be read is read again.
    private static let pause: Duration = .milliseconds(500)

    private let changes: ChangeMailbox
    private let reads: DurableReads
    private let feed: RecordFeed
    private let logger: Logger

    init(_ changes: ChangeMailbox, reads: DurableReads, feed: RecordFeed, logger: Logger) {
        self.changes = changes
        self.reads = reads
        self.feed = feed
        self.logger = logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            for await _ in changes.arrivals() { await relay(changes.take()) }
        }
    }

    private func relay(_ changed: ChangedRecords) async {
        let records =
            switch changed {
            case .some(let records): records.filter(feed.isWatched)
            case .all: feed.watchedRecords
            }
        for (index, id) in records.enumerated() {
            do throws(LedgerError) {
                if let record = try await reads.record(id) { feed.publish([record]) }
            } catch {
                logger.info("A record cannot be read.", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.pause)
                changes.put(.some(Array(records[index...])))
                return
            }
        }
    }
}
