import AsyncHTTPClient
package import GotchuAPI
package import GotchuCore
import NIOCore
import NIOHTTP1

extension PaymentClient {
    /// The longest line of an event stream, in bytes.
    static let eventLineLimit = 64 * 1024

    /// Follows a session until it is final, the connection ends, or the task is cancelled.
    ///
    /// The server sends the full state first. After an interruption, a new call therefore gets the
    /// current state; states in between are skipped. The number of events is not limited: they
    /// concern only the till's own session, and only one line is buffered. A stream that has sent
    /// no state is given up at its first bytes after `callLimit`; one that sends nothing, after the
    /// read timeout.
    ///
    /// - Parameter body: Called with each state, in order.
    /// - Returns: `.success` if the server closed the stream; otherwise the reason of the failure.
    package func followSession(
        _ sid: SessionID,
        _ body: (SessionReply) async -> Void
    ) async -> Answer<Void> {
        await withAccess { access in
            await follow(
                request(
                    .GET,
                    "/sessions/\(sid)/events",
                    headers: [("Accept", "text/event-stream")],
                    access: access
                ),
                body
            )
        }
    }

    private func follow(
        _ request: HTTPClientRequest,
        _ body: (SessionReply) async -> Void
    ) async -> Answer<Void> {
        do {
            let response = try await http.execute(request, timeout: .seconds(10))
            guard response.status == .ok else {
                let bytes = try await withTimeout(Self.callLimit) {
                    try await response.body.collect(upTo: Self.replyLimit)
                }
                return Self.classify(
                    status: Int(response.status.code),
                    body: [UInt8](buffer: bytes),
                    retryAfter: response.headers.first(name: "Retry-After")
                ).map { _ in }
            }
            var parser = ServerSentEventParser(lineLimit: Self.eventLineLimit)
            let start = ContinuousClock.now
            var hasState = false
            for try await chunk in response.body {
                for data in try parser.add(chunk.readableBytesView) {
                    hasState = true
                    let session = try JSONReader.decode(
                        SessionReply.self,
                        data,
                        textLimit: Self.textLimit
                    )
                    await body(session)
                }
                // Comments alone would keep the stream open while the session is paid.
                guard hasState || start.duration(to: .now) < Self.callLimit else {
                    throw TimedOut()
                }
            }
            return .success(())
        } catch  where error is DecodingError || error is JSONReader.Malformed {
            return .unknown(Outage(.unreadable, underlying: "an event that cannot be decoded"))
        } catch {
            return .unknown(Self.outage(of: error))
        }
    }
}
