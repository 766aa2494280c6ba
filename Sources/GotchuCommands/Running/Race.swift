/// The outcome of work that a person may interrupt and that may have a time limit.
enum RaceOutcome<Success: Sendable>: Sendable {
    case finished(Success)
    case timedOut
    /// SIGINT (Ctrl-C), SIGTERM, or SIGHUP.
    case interrupted
}

/// Runs `body` until it ends, `limit` has passed, or the person interrupts.
///
/// In the last two cases `body` is cancelled and has ended when this returns. From the first signal
/// on, and afterwards, the next one ends the process, so that a second Ctrl-C works.
///
/// - Parameter trap: One made earlier, if a signal before this call must not be lost.
func race<Success: Sendable>(
    limit: Duration? = nil,
    trap earlier: SignalTrap? = nil,
    _ body: @escaping @Sendable () async throws -> Success
) async throws -> RaceOutcome<Success> {
    let trap = earlier ?? SignalTrap()
    defer { trap.release() }
    return try await withThrowingTaskGroup(of: RaceOutcome<Success>?.self) { group in
        group.addTask { .finished(try await body()) }
        group.addTask {
            await trap.came() ? .interrupted : nil
        }
        if let limit {
            group.addTask {
                // The user's limit; an earlier end cancels it.
                try await Task.sleep(for: limit)
                return .timedOut
            }
        }
        defer { group.cancelAll() }
        while let outcome = try await group.next() {
            if let outcome { return outcome }
        }
        throw CancellationError()
    }
}
