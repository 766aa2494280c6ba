import ServiceLifecycle

/// Reports to the status if the journal can be written: after each write, and by periodic checks.
/// The checks find a full disk before the next payment.
struct JournalWatch: Service {
    /// The interval between two checks of the disk.
    private static let interval: Duration = .seconds(30)
    /// The interval between two checks while the journal cannot be written.
    private static let failureInterval: Duration = .seconds(3)

    let journal: Journal
    let status: DaemonStatus

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await failure in journal.outcomes {
                    status.apply(journal: failure)
                    guard failure != nil else { continue }
                    // No event reports that a disk has space again.
                    try? await Task.sleep(for: Self.failureInterval)
                    await journal.check()
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    await journal.check()
                    // No event reports that a disk becomes full.
                    try? await Task.sleep(for: Self.interval)
                }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
