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
    ///
    /// - Parameter sessions: True to get also what is heard; the daemon listens meanwhile.
    package func withEvents<Result: Sendable>(
        sessions: Bool = false,
        _ body: (inout LocalEvents) async throws -> Result
    ) async throws -> Result {
        let path = "/v1/events?sessions=\(sessions)"
        return try await withReply(.GET, path, bytes: nil, limit: Self.promptLimit) {
            parts,
            deadline in
            deadline.cancel()
            var events = LocalEvents(parts: parts)
            return try await body(&events)
        }
    }
}
