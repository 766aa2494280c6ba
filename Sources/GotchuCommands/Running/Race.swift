/// The outcome of work that a signal may interrupt and that may have a time limit.
enum RaceOutcome<Success: Sendable>: Sendable {
    case finished(Success)
    case timedOut
    /// SIGINT (Ctrl-C), SIGTERM, or SIGHUP.
    case interrupted
}

/// Runs `body` until it ends, `limit` has passed, or a signal arrives.
///
/// After the time limit or a signal, `body` is cancelled, and has ended when this returns. After
/// the first signal, and after the return, the next SIGINT or SIGTERM ends the process.
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
                // The user's time limit. It is cancelled if `body` ends earlier.
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
