package import DBus

extension Connection {
    /// Returns the signals that match any of the rules, buffered for a slow reader.
    package func signals(_ rules: MatchRule...) async throws(DBusError) -> AsyncStream<Signal> {
        let (signals, output) = AsyncStream<Signal>.makeStream()
        _ = try await subscribe(rules) { output.yield($0) }
        return signals
    }
}
