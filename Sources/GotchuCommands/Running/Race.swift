import Glibc
import UnixSignals

/// How something ended that a person may interrupt and that may have a time limit.
enum RaceOutcome<Success: Sendable>: Sendable {
    case finished(Success)
    case timedOut
    /// SIGINT (Ctrl-C) or SIGTERM.
    case interrupted
}

/// Runs `body` until it ends, `limit` has passed, or the person interrupts.
///
/// In the last two cases `body` is cancelled and has ended when this returns. Afterwards the
/// signals end the process again, so that a second Ctrl-C works.
func race<Success: Sendable>(
    limit: Duration? = nil,
    _ body: @escaping @Sendable () async throws -> Success
) async throws -> RaceOutcome<Success> {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    defer {
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
    }
    return try await withThrowingTaskGroup(of: RaceOutcome<Success>?.self) { group in
        group.addTask { .finished(try await body()) }
        group.addTask {
            for await _ in signals { return .interrupted }
            return nil
        }
        if let limit {
            group.addTask {
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
