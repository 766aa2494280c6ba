import TestSupport

/// An error for an event that did not arrive in time.
package struct DeadlinePassed: Error {
    package init() {}
}

/// Runs `body`, and fails with `DeadlinePassed` after `limit` times `patience`.
package func withDeadline<T: Sendable>(
    _ limit: Duration = .seconds(10),
    _ body: @escaping @Sendable () async throws -> T
) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await body() }
        group.addTask {
            // SAFETY: the deadline for `body`, which is cancelled if `body` ends earlier.
            try await Task.sleep(for: limit * patience)
            throw DeadlinePassed()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw DeadlinePassed() }
        return first
    }
}
