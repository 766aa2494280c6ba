package import DBus

extension Connection {
    /// Signals that match any of the rules, for a test that takes its time.
    package func signals(_ rules: MatchRule...) async throws(DBusError) -> AsyncStream<Signal> {
        let (signals, output) = AsyncStream<Signal>.makeStream()
        _ = try await subscribe(rules) { output.yield($0) }
        return signals
    }
}
