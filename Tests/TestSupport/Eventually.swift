/// An error for an expected condition that did not occur in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Repeats a probe until it returns a value, for at most `limit` times `patience`.
///
/// Use it for conditions of another process, which cannot be awaited. Within this process, await an
/// event.
@discardableResult
package func eventually<Value>(
    _ what: @autoclosure () throws -> String,
    within limit: Duration = .seconds(60),
    _ probe: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit * patience
    while ContinuousClock.now < deadline {
        if let value = try await probe() { return value }
        // SAFETY: the pause between two probes of another process; the deadline decides.
        try await Task.sleep(for: .milliseconds(20))
    }
    throw NeverHappened(description: "Within \(limit): \(try what())")
}
