import ServiceLifecycle

/// Knows whether the journal can be written: by what writing it came to, and by looking at the disk
/// now and then, so that a full one is known before somebody wants to pay.
struct JournalWatch: Service {
    /// The interval between two checks of the disk.
    private static let interval: Duration = .seconds(30)
    /// The interval while it cannot be written.
    private static let failureInterval: Duration = .seconds(3)

    let journal: Journal
    /// Told why it cannot be written, or `nil`, after each look and each write.
    let onChange: @Sendable (JournalFailure?) -> Void

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await failure in journal.outcomes {
                    onChange(failure)
                    guard failure != nil else { continue }
                    // A disk that is emptied tells nobody, nor does one that fills up.
                    try? await Task.sleep(for: Self.failureInterval)
                    await journal.check()
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    await journal.check()
                    // Nor does one that can be written again: it is looked at now and then.
                    try? await Task.sleep(for: Self.interval)
                }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
