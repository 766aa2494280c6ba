/// The outcome of work that a signal may interrupt and that may have a time limit.
enum RaceOutcome<Success: Sendable>: Sendable {
    case finished(Success)
    case timedOut
    /// SIGINT (Ctrl-C), SIGTERM, or SIGHUP.
    case interrupted
}

/// Runs `body` until it ends, `limit` has passed, or a signal arrives.
///
/// In the last two cases `body` is cancelled and has ended on return. From the first signal on,
/// also after the return, the next signal ends the process, so that a second Ctrl-C works.
///
/// - Parameter trap: A trap created earlier, if a signal before this call must not be lost.
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
            await trap.waitForSignal() ? .interrupted : nil
        }
        if let limit {
            group.addTask {
                // The user's time limit; an earlier end of `body` cancels it.
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
