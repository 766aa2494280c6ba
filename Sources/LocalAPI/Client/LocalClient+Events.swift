import NIOCore
import NIOHTTP1

extension LocalClient {
    /// Opens the stream of events for as long as `body` runs.
    ///
    /// The first element is a snapshot of everything that the caller may see. Nothing is buffered
    /// beyond the connection's watermark: a slow reader fills the socket, and the daemon then
    /// leaves events out and says so with `lagged`. The sequence throws
    /// `LocalClientFailure.connectionLost` when the daemon goes away; whether to come back is the
    /// caller's decision.
    package func withEvents<Result: Sendable>(
        _ body: (inout LocalEvents) async throws -> Result
    ) async throws -> Result {
        try await withReply(.GET, "/v1/events", bytes: nil, limit: Self.promptLimit) {
            parts,
            deadline in
            deadline.cancel()
            var events = LocalEvents(parts: parts)
            return try await body(&events)
        }
    }
}
