import ServiceLifecycle

/// Reports to the status if the journal can be written: after each write, and by a check now and
/// then, so that a full disk is known before somebody wants to pay.
struct JournalWatch: Service {
    /// The interval between two checks of the disk.
    private static let interval: Duration = .seconds(30)
    /// The interval while it cannot be written.
    private static let failureInterval: Duration = .seconds(3)

    let journal: Journal
    let status: DaemonStatus

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await failure in journal.outcomes {
                    status.apply(journal: failure)
                    guard failure != nil else { continue }
                    // No event says that a disk was emptied or fills up.
                    try? await Task.sleep(for: Self.failureInterval)
                    await journal.check()
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    await journal.check()
                    // Nor that one can be written again.
                    try? await Task.sleep(for: Self.interval)
                }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
