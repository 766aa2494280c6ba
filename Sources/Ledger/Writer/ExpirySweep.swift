internal import GotchuCore
package import Logging
internal import ServiceLifecycle
internal import ServiceProcess

/// Writes down what time has done to sessions, so that those who watch them are told in time.
///
/// Only tidying: a session that has run out is refused whether or not this has run.
package struct ExpirySweep: Service {
    /// How late a watcher may learn that a session has run out.
    package static let interval: Duration = .milliseconds(250)
    private static let batchLimit = 256

    private let store: any LedgerStore
    private let writer: LedgerWriter
    private let logger: Logger

    package init(store: any LedgerStore, writer: LedgerWriter, logger: Logger) {
        self.store = store
        self.writer = writer
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            var failures = FailureLog(
                logger,
                failure: "Sessions could not be tidied.",
                recovery: "Sessions are tidied again."
            )
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                do throws(LedgerError) {
                    try await sweep()
                    failures.worked()
                } catch {
                    failures.failed(error)
                }
            }
        }
    }

    /// A sweep that fails is made good by the next one.
    private func sweep() async throws(LedgerError) {
        let due = try await store.due(
            at: store.now.advanced(by: .zero - store.expiryMargin),
            limit: Self.batchLimit
        )
        let failure = await withTaskGroup(of: LedgerError?.self) { group in
            for session in due {
                // They meet in the writer's queue and share a commit.
                group.addTask { await expire(session) }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure }
    }

    /// - Returns: Why it could not be written down.
    private func expire(_ session: SessionID) async -> LedgerError? {
        do throws(LedgerError) {
            _ = try await writer.submit(.expire(session))
            return nil
        } catch {
            return error
        }
    }
}
