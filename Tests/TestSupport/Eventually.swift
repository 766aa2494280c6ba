/// An error for an expected condition that did not become true in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Calls a probe repeatedly until it returns a value, for at most `limit` times `patience`.
///
/// Use it for conditions of another process. Conditions of this process can be awaited.
@discardableResult
package func eventually<Value>(
    _ what: @autoclosure () throws -> String,
    within limit: Duration = .seconds(60),
    _ probe: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit * patience
    while ContinuousClock.now < deadline {
        if let value = try await probe() { return value }
        // SAFETY: the pause between two probes; only the deadline ends the wait.
        try await Task.sleep(for: .milliseconds(20))
    }
    throw NeverHappened(description: "Within \(limit): \(try what())")
}
