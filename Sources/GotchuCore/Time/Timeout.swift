/// The error of an operation that did not finish in time and was cancelled.
package struct TimedOut: Error, Equatable, Sendable {
    package init() {}
}

/// Runs an operation that must finish within `limit`.
///
/// - Throws: `TimedOut` if the limit passes first. It is thrown only after the cancelled operation
///   has returned. Otherwise the operation's own error.
package func withTimeout<Result: Sendable>(
    _ limit: Duration,
    _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw TimedOut() }
        return result
    }
}
