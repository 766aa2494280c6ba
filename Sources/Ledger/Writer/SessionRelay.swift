internal import Logging
internal import ServiceLifecycle

/// Tells this server's watchers what other servers have done to their sessions.
package struct SessionRelay: Service {
    /// How soon a session that could not be read is read again.
    private static let pause: Duration = .milliseconds(500)

    private let changes: ChangeMailbox
    private let reads: CertainReads
    private let feed: SessionFeed
    private let logger: Logger

    init(_ changes: ChangeMailbox, reads: CertainReads, feed: SessionFeed, logger: Logger) {
        self.changes = changes
        self.reads = reads
        self.feed = feed
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            for await _ in changes.arrivals() { await relay(changes.take()) }
        }
    }

    private func relay(_ changed: ChangedSessions) async {
        let sessions =
            switch changed {
            case .some(let sessions): sessions.filter(feed.isWatched)
            case .all: feed.watchedSessions
            }
        for (index, id) in sessions.enumerated() {
            do throws(LedgerError) {
                if let session = try await reads.session(id) { feed.publish([session]) }
            } catch {
                logger.info("A session cannot be read.", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.pause)
                changes.put(.some(Array(sessions[index...])))
                return
            }
        }
    }
}
