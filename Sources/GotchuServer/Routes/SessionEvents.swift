internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import NIOCore
internal import Payments

/// Pushes a session's changes as server-sent events (WHATWG HTML, "Server-sent events"): first the
/// whole state, then each newer one, until the session is final.
struct SessionEvents: Sendable {
    /// The time that a client should wait before it reconnects.
    private static let reconnectMilliseconds = 1_000

    let ledger: Ledger
    let authentication: CallerAuthentication

    @Sendable func follow(_ request: Request, _ context: ServerContext) async throws -> Response {
        let login = try await authentication.login(of: request)
        let sid = try SessionRoutes.session(in: context)
        // Watching starts before reading, so that no change falls between the two.
        let watch = try watch(sid, by: login)
        let session = try await ledger.session(sid, visibleTo: login.user).accepted()
        let isSeen = request.headers[.lastEventID].flatMap { Int64($0) } == session.version
        var events = ByteBuffer(string: "retry: \(Self.reconnectMilliseconds)\n\n")
        if !isSeen { events.writeImmutableBuffer(try SessionStream.event(session)) }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        if session.status.isFinal {
            // 204 tells an EventSource to stop reconnecting: it has received the final state.
            return isSeen
                ? Response(status: .noContent)
                : Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: events))
        }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { [events] writer in
                try await writer.write(events)
                (writer as? ReplyBody)?.stream = SessionStream(
                    watch,
                    user: login.user,
                    version: session.version
                )
            }
        )
    }

    private func watch(_ sid: SessionID, by login: Login) throws -> RecordWatch {
        do {
            return try ledger.feed.watch(RecordID(sid), by: login.description)
        } catch {
            let detail =
                switch error {
                case .ofLogin:
                    "This device or login follows as many sessions as it may: "
                        + "\(ledger.feed.watchersPerLogin)."
                case .ofAll: "Too many follow sessions at this moment."
                }
            throw Problem(.rateLimited, detail: detail).retry(after: 5)
        }
    }
}
