package import DBus

extension Connection {
    /// Returns a stream of the signals that match any of the rules. Its buffer has no limit.
    package func signals(_ rules: MatchRule...) async throws(DBusError) -> AsyncStream<Signal> {
        let (signals, output) = AsyncStream<Signal>.makeStream()
        _ = try await subscribe(rules) { output.yield($0) }
        return signals
    }
}
